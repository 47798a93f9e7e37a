import type { CallToolResult } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { connectOldClient } from "../support/old-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

const UNIT = 'ab"é\n😀\u2028';
const EIGHT_MEGABYTES = 8 * 1024 * 1024;
const UNITS = Math.ceil(EIGHT_MEGABYTES / Buffer.byteLength(UNIT));

interface Handle {
  readonly workflow_id: string;
  readonly task_id: string;
}

interface PageInfo extends Handle {
  readonly next_offset: number | null;
  readonly total_bytes: number;
  readonly content_type: string;
}

/** The common part of both SDK versions' clients. */
interface Caller {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

async function callTool(client: Caller, name: string, input: object): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
}

function texts({ content }: CallToolResult): string[] {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : []));
}

function readHandle(result: CallToolResult): Handle {
  const [, json = "null"] = /Read on with pml_get_task_result (\{.*\})$/.exec(texts(result).at(-1) ?? "") ?? [];
  const { workflow_id, task_id } = JSON.parse(json) as Handle;
  return { workflow_id, task_id };
}

async function readPages(client: Caller, handle: Handle, limit: number): Promise<{ text: string; pages: number }> {
  let text = "";
  let pages = 0;
  for (let offset: number | null = 0; offset !== null; pages += 1) {
    const [about = "", page = ""] = texts(await callTool(client, "pml_get_task_result", { ...handle, offset, limit }));
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(limit);
    text += page;
    offset = (JSON.parse(about) as PageInfo).next_offset;
  }
  return { text, pages };
}

describe("a result of eight megabytes", () => {
  let home: GatewayHome;
  beforeAll(async () => {
    home = await startGateway({ large: servers.large() });
    await home.ready("large");
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test.each(clientKinds)(
    "over $transport, $era: arrives cut, with a handle that gives all of it in pages [10.8-AC1] [10.8-AC2] [10.8-AC3] [10.8-AC6] [10.8-AC7] [E10-FR8]",
    async (kind) => {
      await using connected = await connectClient(home.path, kind);
      const { client } = connected;
      await client.listTools();
      const result = await callTool(client, "large__write_text", { count: UNITS });
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(75_000);
      expect(result.isError).not.toBe(true);
      const shown = texts(result)[0] ?? "";
      expect(shown).toMatch(/… \[\d+ more characters\]$/);
      expect(UNIT.repeat(20_000).startsWith(shown.slice(0, shown.lastIndexOf("…")))).toBe(true);
      const { text, pages } = await readPages(client, readHandle(result), 70_000);
      expect(text === UNIT.repeat(UNITS)).toBe(true);
      expect(pages).toBeGreaterThan(100);

      // The handle continues where the shown part ends.
      const meta = result._meta?.["dev.pml/truncated"] as { offset: number; total_bytes: number };
      expect(meta.total_bytes).toBe(Buffer.byteLength(text));
      const [, next = ""] = texts(
        await callTool(client, "pml_get_task_result", { ...readHandle(result), offset: meta.offset, limit: 1_000 }),
      );
      const before = shown.slice(0, shown.lastIndexOf("…"));
      expect(text.startsWith(before + next)).toBe(true);
    },
  );

  test.each(["stdio", "http"] as const)("reaches a client of the SDK before last over %s", async (transport) => {
    await using client = await connectOldClient(home.path, transport);
    await client.listTools();
    const result = await callTool(client, "large__write_text", { count: UNITS });
    const { text } = await readPages(client, readHandle(result), 75_000);
    expect(text === UNIT.repeat(UNITS)).toBe(true);
  });
});

test("structured content stays what its schema says, a client that checks it lets it pass, and its text is the same", async () => {
  await using home = await startGateway({ large: servers.large() });
  await home.ready("large");
  for (const kind of clientKinds) {
    await using connected = await connectClient(home.path, kind);
    const { client } = connected;
    await client.listTools(); // the client validates results from here on
    const result = await callTool(client, "large__query_rows", { count: 20_000 });
    const { rows, total } = result.structuredContent as { rows: { id: number }[]; total: number };
    expect(total).toBe(20_000);
    expect(rows.length).toBeGreaterThan(500);
    expect(rows.length).toBeLessThan(20_000);
    expect(JSON.parse(texts(result)[0] ?? "")).toEqual(result.structuredContent);
    expect(texts(result).at(-1)).toContain(`structuredContent.rows: ${rows.length} of 20000 items`);
    const { text } = await readPages(client, readHandle(result), 70_000);
    const whole = JSON.parse(text) as { rows: { id: number }[] };
    expect(whole.rows).toHaveLength(20_000);
    expect(whole.rows.slice(0, rows.length)).toEqual(rows);
  }
});

test("a picture that is too large gives way to a note; the handle has it", async () => {
  await using home = await startGateway({ large: servers.large() });
  await home.ready("large");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const small = await callTool(client, "large__take_picture", { count: 50_000 });
  expect(small.content).toHaveLength(2);
  const result = await callTool(client, "large__take_picture", { count: 200_000 });
  expect(texts(result)).toEqual([
    "a picture",
    expect.stringMatching(/^\[image image\/png, \d+ bytes, left out\]$/),
    expect.stringContaining("pml_get_task_result"),
  ]);
  const { text } = await readPages(client, readHandle(result), 70_000);
  expect((JSON.parse(text) as CallToolResult).content[1]).toMatchObject({ type: "image", data: "A".repeat(200_000) });
});

test("handles answer after a restart, then expire and say when; wrong ones are refused with the reason [10.8-AC4] [10.8-AC5] [10.8-AC8]", async () => {
  const mcpServers = { large: servers.large() };
  await using home = await startGateway(mcpServers);
  await home.ready("large");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const handle = readHandle(await callTool(client, "large__query_rows", { count: 5_000 }));
  const kept = texts(await callTool(client, "pml_get_task_result", handle));
  const { expires_at } = JSON.parse(kept[0] ?? "") as { expires_at: string };
  expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(3_500_000);

  await runPml(["down"], { home: home.path });
  writeConfig(home.path, { mcpServers, results: { ttlSeconds: 1 } });
  await runJson(["up"], { home: home.path });
  expect(texts(await callTool(client, "pml_get_task_result", handle))).toEqual(kept);
  const pretty = texts(await callTool(client, "pml_get_task_result", { ...handle, format: "pretty", limit: 60 }));
  expect(pretty[1]).toMatch(/^\{\n {2}"rows": \[\n {4}\{\n {6}"id": 0,/);

  const short = readHandle(await callTool(client, "large__query_rows", { count: 5_000 }));
  await until("it expired", async () => {
    const { isError } = await callTool(client, "pml_get_task_result", short);
    return isError === true;
  });
  const expired = await callTool(client, "pml_get_task_result", short);
  expect(expired.structuredContent).toMatchObject({
    error: { code: "result_expired", message: expect.stringMatching(/of large:query_rows expired at 20\d\d-.*Z$/) },
  });

  const unknown = await callTool(client, "pml_get_task_result", { ...handle, task_id: "other" });
  expect(unknown.structuredContent).toMatchObject({ error: { code: "result_not_found" } });
  const wrong = await callTool(client, "pml_get_task_result", { ...handle, workflow_id: "7" });
  expect(wrong).toMatchObject({
    isError: true,
    structuredContent: { error: { message: expect.stringContaining(`"workflow_id": expected a uuid, got "7"`) } },
  });
});

test("the limit is a setting, of all servers or of one, taken over while the daemon runs; transparent servers have none", async () => {
  const large = servers.large();
  const whole = { ...servers.large(), pml: { prefix: "" as const } };
  await using home = await startGateway({ large, whole });
  await home.ready("large", "whole");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const length = async (name: string): Promise<number> =>
    (texts(await callTool(client, name, { count: 20_000 }))[0] ?? "").length;
  const complete = UNIT.length * 20_000;
  expect(await length("large:write_text")).toBeLessThan(75_000);
  expect(await length("whole:write_text")).toBe(complete);

  writeConfig(home.path, {
    results: { maxBytes: 0 },
    mcpServers: { large, whole: { ...whole, pml: { ...whole.pml, maxResultBytes: 10_000 } } },
  });
  await until("the limits were swapped", async () => (await length("large:write_text")) === complete);
  await home.ready("whole");
  await until("the other one has its own", async () => (await length("whole:write_text")) < 10_000);
  expect(texts(await callTool(client, "whole:write_text", { count: 20_000 })).at(-1)).toContain(
    "the limit of 10000 (pml.maxResultBytes of the server whole)",
  );
});
