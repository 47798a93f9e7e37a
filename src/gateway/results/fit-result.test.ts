import type { CallToolResult } from "@modelcontextprotocol/server";
import { afterAll, expect, test } from "vitest";
import { createLogger } from "../../base/log.ts";
import type { CallResultText, KeptResults } from "./kept-results.ts";
import { FitThread } from "./fit-thread.ts";
import { type FitParts, fitResult, type SizedResult } from "./fit-result.ts";

const cutter = new FitThread(() => ({ maxMillis: 60_000, maxHeapMb: 256 }));
afterAll(() => cutter[Symbol.asyncDispose]());

const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const expiresAt = new Date("2026-01-02T03:04:05.678Z");

function createParts(keep?: KeptResults["keep"]): FitParts & { readonly kept: CallResultText[] } {
  const kept: CallResultText[] = [];
  const results: FitParts["results"] = {
    cut: (result) => cutter.cut(result),
    keep:
      keep ??
      (async (result) => {
        kept.push(result);
        return { workflow: "w", task: "call", expiresAt };
      }),
    readPage: () => Promise.reject(new Error("not asked for here")),
  };
  return { results, principal: "alice", hide: (value) => value, ttlSeconds: 60, log, kept };
}

function sized(result: CallToolResult, more: Partial<SizedResult> = {}): SizedResult {
  const size = JSON.stringify(result).length;
  return {
    result,
    size,
    tool: "s:t",
    outputSchema: undefined,
    maxBytes: 5_000,
    limitName: "results.maxBytes",
    ...more,
  };
}

function lastText({ content }: CallToolResult): string {
  const block = content.at(-1);
  return block?.type === "text" ? block.text : "";
}

const text = (length: number): CallToolResult => ({ content: [{ type: "text", text: "é".repeat(length) }] });

test("fitResult hands over what is within the limit as it is, and anything without a limit", async () => {
  const parts = createParts();
  for (const call of [sized(text(100)), sized(text(2_400)), sized(text(90_000), { maxBytes: 0 })]) {
    expect(await fitResult(call, parts)).toBe(call.result);
  }
  const both = { ...text(2_000), structuredContent: { a: "é".repeat(2_000) } };
  expect(await fitResult(sized(both), parts)).toBe(both);
  expect(parts.kept).toEqual([]);
});

test("fitResult keeps a larger one whole and says where to read on", async () => {
  const parts = createParts();
  const result = await fitResult(sized(text(9_000)), parts);
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(5_000);
  expect(parts.kept).toEqual([
    { tool: "s:t", principal: "alice", status: "success", contentType: "text/plain", text: "é".repeat(9_000) },
  ]);
  const shown = /^é+/.exec((result.content[0] as { text: string }).text)?.[0] ?? "";
  const handle = { workflow_id: "w", task_id: "call", offset: shown.length * 2 };
  expect(result._meta).toEqual({
    "dev.pml/truncated": { total_bytes: 18_000, ...handle, expires_at: expiresAt.toISOString() },
  });
  expect(lastText(result)).toBe(
    `[PML] This result has 18000 bytes, more than the limit of 5000 (results.maxBytes), and is not complete here: content[0].text: ${shown.length} of 9000 characters. The whole is kept until 2026-01-02T03:04:05.678Z. Read on with pml_get_task_result ${JSON.stringify(handle)}`,
  );
});

test("fitResult hands over the beginning when the rest cannot be kept, and says so", async () => {
  const result = await fitResult(
    sized(text(9_000)),
    createParts(() => Promise.reject(new Error("disk full"))),
  );
  expect(lastText(result)).toMatch(/9000 characters\. The rest could not be kept: Error: disk full$/);
  expect(result._meta).toEqual({ "dev.pml/truncated": { total_bytes: 18_000 } });
});

const outputSchema = {
  type: "object" as const,
  properties: { rows: { type: "array", items: { type: "string" } }, key: { type: "string", pattern: "^x+$" } },
  required: ["rows"],
};

test("fitResult gives structured content that fits its schema", async () => {
  const structuredContent = { rows: Array.from({ length: 3_000 }, (_, row) => `row ${row}`) };
  const parts = createParts();
  const result = await fitResult(sized({ content: [], structuredContent }, { outputSchema }), parts);
  expect(result.isError).toBeUndefined();
  expect((result.structuredContent as { rows: string[] }).rows).toEqual(
    structuredContent.rows.slice(0, (result.structuredContent as { rows: string[] }).rows.length),
  );
  expect(parts.kept[0]).toMatchObject({ contentType: "application/json" });
});

test("fitResult marks a result without the structure it promised, so that clients let it pass", async () => {
  const structuredContent = { rows: [], key: "x".repeat(9_000) };
  const schema = { ...outputSchema, required: ["rows", "key"] };
  const result = await fitResult(sized({ content: [], structuredContent }, { outputSchema: schema }), createParts());
  expect(result).toMatchObject({ isError: true });
  expect(result.structuredContent).toBeUndefined();
  expect(lastText(result)).toContain("The call itself succeeded; do not repeat it.");
});
