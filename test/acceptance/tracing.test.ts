import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "../support/databases.ts";
import { call, type GatewayHome, startGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const context = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1", baggage: "user=ada" };
const entries = { current: servers.mirror(), old: servers.mirror("--legacy") };

interface RecordedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly attributes: Record<string, unknown>;
}

async function metaSeenBy(client: Client, server: string, sent: Record<string, unknown>): Promise<object> {
  const result = await client.callTool({ name: `${server}__meta`, arguments: { secret: "argument" }, _meta: sent });
  const [first] = result.content;
  return JSON.parse(first?.type === "text" ? first.text : "") as object;
}

async function connectWithHeaders(home: GatewayHome, era: "legacy" | "auto"): Promise<Client> {
  const address = readDaemonAddress(home.path);
  const headers = { Authorization: `Bearer ${address?.token}`, ...context };
  const client = new Client({ name: "traced", version: "1.0.0" }, { versionNegotiation: { mode: era } });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address?.url), { requestInit: { headers } }));
  return client;
}

test("a server gets the caller's trace context as it came, over every kind of connection", async () => {
  await using home = await startGateway(entries);
  await home.ready("current", "old");
  for (const kind of clientKinds) {
    await using connected = await connectClient(home.path, kind);
    for (const server of ["current", "old"]) {
      expect(await metaSeenBy(connected.client, server, context), kind.transport).toMatchObject(context);
      expect(await metaSeenBy(connected.client, server, {})).not.toHaveProperty("traceparent");
    }
  }
});

test("trace context in HTTP headers counts where the message has none", async () => {
  await using home = await startGateway(entries);
  await home.ready("current", "old");
  const own = { traceparent: `00-${TRACE}-00f067aa0ba902b7-00` };
  for (const era of ["legacy", "auto"] as const) {
    const client = await connectWithHeaders(home, era);
    expect(await metaSeenBy(client, "current", {}), era).toMatchObject(context);
    expect(await metaSeenBy(client, "old", {})).toMatchObject(context);
    expect(await metaSeenBy(client, "old", own)).toMatchObject(own);
    await client.close();
  }
});

test("with an OpenTelemetry SDK each call is a span between the caller's and the server's", async () => {
  await using folder = await makeFolder();
  const file = join(folder.path, "spans.jsonl");
  const recorder = join(import.meta.dirname, "..", "support", "record-spans.ts");
  const env = { NODE_OPTIONS: `--import=${recorder}`, SPANS_FILE: file };
  await using home = await startGateway(entries, { env });
  await home.ready("current", "old");
  for (const kind of clientKinds) {
    await using connected = await connectClient(home.path, kind);
    for (const server of ["current", "old"]) {
      writeFileSync(file, "");
      const seen = await metaSeenBy(connected.client, server, context);
      const span = await findSpan(file, `tools/call ${server}:meta`);
      expect(span).toMatchObject({ traceId: TRACE, parentId: SPAN });
      expect(span.attributes).toEqual({
        "mcp.method.name": "tools/call",
        "pml.era": kind.era === "legacy" ? "legacy" : "modern",
        "pml.server": server,
        "pml.tool": "meta",
        "pml.outcome": "success",
      });
      expect(seen).toMatchObject({ ...context, traceparent: `00-${TRACE}-${span.spanId}-01` });
    }
    await expect(call(connected.client, "no__such_tool", { secret: "argument" })).rejects.toThrow("Unknown tool");
    const failed = await findSpan(file, "tools/call");
    expect(failed.attributes).toMatchObject({ "pml.outcome": "error", "error.type": "-32602" });
    expect(readFileSync(file, "utf8")).not.toContain("argument");
  }
});

async function findSpan(file: string, name: string): Promise<RecordedSpan> {
  let found: RecordedSpan | undefined;
  await until(`the span ${name} is written`, () => {
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    found = lines.map((line) => JSON.parse(line) as RecordedSpan).find((span) => span.name === name);
    return found !== undefined;
  });
  return found as RecordedSpan;
}
