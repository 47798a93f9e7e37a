import type { CallToolResult } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { type TruncateOptions, truncateResult } from "./truncate-result.ts";

const options: TruncateOptions = { maxBytes: 5_000, outputSchema: undefined, isValid: () => true };
const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `row "${id}"` }));
const picture = (length: number): CallToolResult["content"][number] => ({
  type: "image",
  mimeType: "image/png",
  data: "A".repeat(length),
});

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function texts({ content }: CallToolResult): string[] {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : []));
}

test("truncateResult cuts a plain text and fills the room", () => {
  const text = "word ".repeat(10_000);
  const { result, cuts } = truncateResult({ content: [{ type: "text", text }] }, options);
  expect(bytes(result)).toBeLessThanOrEqual(5_000);
  expect(bytes(result)).toBeGreaterThan(4_900);
  expect(cuts).toEqual([{ path: "content[0].text", kept: expect.any(Number), of: 50_000, unit: "characters" }]);
  expect(texts(result)[0]).toBe(`${text.slice(0, cuts[0]?.kept)}… [${50_000 - (cuts[0]?.kept ?? 0)} more characters]`);
});

test("truncateResult leaves JSON in a text JSON", () => {
  const { result, cuts } = truncateResult({ content: [{ type: "text", text: JSON.stringify({ rows }) }] }, options);
  const parsed = JSON.parse(texts(result)[0] ?? "") as { rows: unknown[] };
  const { kept = 0 } = cuts[0] ?? {};
  expect(parsed.rows).toEqual([...rows.slice(0, kept), `… ${rows.length - kept} more items`]);
  expect(cuts).toEqual([{ path: "content[0].text.rows", kept, of: 3_000, unit: "items" }]);
  expect(kept).toBeGreaterThan(50);
  expect(bytes(result)).toBeLessThanOrEqual(5_000);
});

test("truncateResult says the same as text and as structured content", () => {
  const structuredContent = { rows, total: 3_000 };
  for (const content of [[{ type: "text" as const, text: JSON.stringify(structuredContent) }], []]) {
    const { result, cuts, structureLost } = truncateResult({ content, structuredContent }, options);
    expect(JSON.parse(texts(result)[0] ?? "")).toEqual(result.structuredContent);
    expect(result.structuredContent).toEqual({ rows: rows.slice(0, cuts[0]?.kept), total: 3_000 });
    expect(cuts).toEqual([{ path: "structuredContent.rows", kept: expect.any(Number), of: 3_000, unit: "items" }]);
    expect(structureLost).toBe(false);
    expect([bytes(result.content), bytes(result.structuredContent)].every((size) => size <= 5_000)).toBe(true);
  }
});

test("truncateResult leaves out structure that cannot be shortened, and keeps its text", () => {
  const result = { content: [], structuredContent: { rows } };
  const truncated = truncateResult(result, { ...options, isValid: () => false });
  expect(truncated.structureLost).toBe(true);
  expect(truncated.result.structuredContent).toBeUndefined();
  expect(texts(truncated.result)[0]).toContain("more items");
});

test("truncateResult keeps pictures whole or replaces them by a note", () => {
  const text = { type: "text" as const, text: "x".repeat(20_000) };
  const small = picture(1_000);
  const large = picture(9_000);
  const { result, cuts } = truncateResult({ content: [small, text, large] }, options);
  expect(result.content[0]).toEqual(small);
  expect(texts(result)[1]).toMatch(/^\[image image\/png, 9\d{3} bytes, left out\]$/);
  expect(cuts).toContainEqual({ path: "content[2]", kept: 0, of: bytes(large), unit: "bytes" });
});

test("truncateResult cuts the text of a resource, not its blob", () => {
  const resource = { uri: "file:///a", mimeType: "text/plain", text: "y".repeat(20_000) };
  const blob = { uri: "file:///b", mimeType: "application/zip", blob: "A".repeat(20_000) };
  const { result } = truncateResult(
    {
      content: [
        { type: "resource", resource },
        { type: "resource", resource: blob },
      ],
    },
    options,
  );
  expect(result.content[0]).toMatchObject({
    type: "resource",
    resource: { uri: "file:///a", text: expect.stringMatching(/^y+… \[\d+ more characters\]$/) },
  });
  expect(texts(result)).toEqual([expect.stringMatching(/^\[application\/zip, \d+ bytes, left out\]$/)]);
});

test("truncateResult counts blocks that have no room, and drops what is large beside the content", () => {
  const content = rows.map(({ name }) => ({ type: "text" as const, text: name }));
  const result = { content, isError: true, _meta: { "x/data": "z".repeat(9_000) } };
  const { result: shorter, cuts } = truncateResult(result, options);
  expect(shorter).toEqual({ isError: true, content: content.slice(0, shorter.content.length) });
  expect(cuts).toEqual([
    { path: "content", kept: shorter.content.length, of: 3_000, unit: "items" },
    { path: "_meta", kept: 0, of: expect.any(Number), unit: "bytes" },
  ]);
  expect(bytes(shorter)).toBeLessThanOrEqual(5_000);
});
