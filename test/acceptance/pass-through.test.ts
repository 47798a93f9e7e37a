import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { connectEvery, everyClient } from "../support/every-client.ts";
import { call, type GatewayHome, shareGateway, startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runPml, until } from "../support/pml.ts";
import { RawMcp } from "../support/raw-mcp.ts";
import { servers } from "../support/upstream-servers.ts";

const annotations = { priority: 0.25, audience: ["user", "assistant"], lastModified: "2026-01-01T00:00:00Z" };
const icons = [{ src: "data:image/png;base64,AA==", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }];

/** Keys in an order no SDK writes, and unknown ones. */
const everyKind = {
  isError: false,
  content: [
    { text: "größe 日本語 😀 \u2028 \\u0000", type: "text", annotations, _meta: { z: 1, a: [null, 1.5e-7] } },
    { mimeType: "image/png", data: "iVBORw0KGgo=", type: "image", annotations },
    { type: "audio", data: "UklGRg==", mimeType: "audio/wav", _meta: { "x/y": true } },
    { name: "a link", uri: "file:///a%20b", type: "resource_link", title: "A", size: 3, icons, description: "d" },
    {
      type: "resource",
      resource: { uri: "test://a", text: "embedded", mimeType: "text/plain", _meta: { k: "v" } },
      annotations,
    },
    { type: "resource", resource: { blob: "AAAA", uri: "test://b", odd: 1 }, "x-vendor": { of: "the future" } },
    { type: "hologram", depth: 3 },
  ],
  _meta: { "example.com/trace": { deep: [{}, [], ""] } },
};

const definition = {
  title: "Everything at once",
  inputSchema: {
    type: "object",
    properties: { b: {}, a: { type: "string", "x-odd": 1 } },
    $schema: "http://json-schema.org/draft-07/schema#",
  },
  name: "every-kind",
  annotations: { readOnlyHint: true, openWorldHint: false, title: "Hint" },
  description: "line one\nline two",
  icons,
  _meta: { ui: { resourceUri: "ui://widget/1" } },
};

async function startMirror(results: object, tools: readonly object[]): Promise<GatewayHome> {
  const folder = await makeFolder();
  const file = join(folder.path, "mirror.json");
  writeFileSync(file, JSON.stringify({ tools, results }));
  const home = await startGateway({ mirror: servers.scripted(file) });
  await home.ready("mirror");
  return {
    ...home,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("every kind of content, with annotations, icons and metadata, comes out byte for byte as it went in [mcp-18]", async () => {
  await using home = await startMirror({ "every-kind": everyKind }, [definition]);
  const raw = new RawMcp(home.path);
  await raw.initialize();
  const params = { name: "mirror__every_kind", arguments: {} };
  expect((await raw.old("tools/call", params)).text).toContain(`"result":${JSON.stringify(everyKind)}`);
  const { text } = await new RawMcp(home.path).current("tools/call", params);
  expect(text).toContain(`"content":${JSON.stringify(everyKind.content)}`);

  const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const lines = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: opening },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params },
  ];
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const { stdout } = await runPml(["mcp"], { home: home.path, input });
  expect(stdout).toContain(`"result":${JSON.stringify(everyKind)}`);

  const { message } = await raw.old("tools/list");
  const listed = (message.result?.["tools"] ?? []) as (typeof definition)[];
  const tool = listed.find(({ name }) => name.startsWith("mirror__"));
  expect(tool).toEqual({
    ...definition,
    name: "mirror__every_kind",
    _meta: { ...definition._meta, "dev.pml/canonicalName": "mirror:every-kind" },
  });
  expect(JSON.stringify(tool?.inputSchema)).toBe(JSON.stringify(definition.inputSchema));
});

test("structured results are there as text too; what is no object is wrapped for clients of 2025 [mcp-10]", async () => {
  const inputSchema = { type: "object" };
  const list = { type: "array", items: { type: "number" } };
  await using home = await startMirror(
    {
      object: { content: [], structuredContent: { sum: 5 } },
      list: { content: [], structuredContent: [1, 2] },
    },
    [
      { name: "object", inputSchema, outputSchema: { type: "object", properties: { sum: { type: "number" } } } },
      { name: "list", inputSchema, outputSchema: list },
    ],
  );
  await using clients = await connectEvery(home.path);
  for (const client of clients) {
    const { content, structuredContent } = await client.callTool("mirror__object", {});
    expect([client.client, structuredContent]).toEqual([client.client, { sum: 5 }]);
    expect([client.client, content]).toEqual([client.client, [{ type: "text", text: `{"sum":5}` }]]);
    const { structuredContent: wrapped, content: text } = await client.callTool("mirror__list", {});
    expect([client.client, wrapped]).toEqual([client.client, client.era === "modern" ? [1, 2] : { result: [1, 2] }]);
    expect([client.client, JSON.stringify(text)]).toEqual([client.client, expect.stringContaining("[1,2]")]);
  }
});

describe("with short time limits", () => {
  const config = { upstream: { callSeconds: 1, longestCallSeconds: 2 } };
  const shared = shareGateway({ chaos: servers.chaos("chaos") }, { config });

  test.each(everyClient)(
    "$client: progress comes in order, cancelling reaches the server, time limits hold [mcp-19]",
    async ({ connect }) => {
      const home = shared();
      await using client = await connect(home.path);
      await using observer = await connectClient(home.path, { transport: "http" });
      const cancelledHangs = async (): Promise<number> =>
        (await call(observer.client, "chaos__cancelled")).text.split("hang").length;
      const before = await cancelledHangs();
      const steps: number[] = [];
      const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress);
      // Longer than the limit without progress, shorter than the one with it.
      expect(await client.callTool("chaos__slow", { ms: 1_500 }, { onprogress })).toMatchObject({
        content: [{ text: "slow, but here" }],
      });
      // The last notification races the result inside the SDKs.
      expect(steps.slice(0, 4)).toEqual([1, 2, 3, 4]);
      expect(await client.callTool("chaos__slow", { ms: 4_000 }, { onprogress })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/Server chaos did not answer tools\/call/) }],
      });

      const abort = new AbortController();
      const hanging = client
        .callTool("chaos__hang", {}, { signal: abort.signal })
        .catch((error: unknown) => String(error));
      await until("the call is under way", async () => (await home.server("chaos")).inFlight === 1);
      abort.abort("enough");
      await until("the server was told", async () => (await cancelledHangs()) > before);
      expect(await hanging).toContain("enough");
    },
  );
});
