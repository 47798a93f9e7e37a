import {
  type CallToolResult,
  inputRequired,
  type JSONRPCMessage,
  McpServer,
  ProtocolError,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { expect, test, vi } from "vitest";
import { handleCalls, isOrdinaryCall, openShortWay } from "./short-way.ts";

type Handler = (ctx: ServerContext) => Promise<CallToolResult>;

interface Sent {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: unknown;
}

const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });
const initialize = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: { elicitation: {} },
    clientInfo: { name: "test", version: "1" },
  },
};

/** A server behind the short way. `passed` is what reached the SDK. */
async function serve(handler: Handler) {
  const sent: Sent[] = [];
  const passed: string[] = [];
  const handle = vi.fn<Handler>(handler);
  const transport: Transport = {
    start: async () => undefined,
    close: async () => transport.onclose?.(),
    send: async (message) => void sent.push(message as Sent),
  };
  const mcp = new McpServer({ name: "test", version: "1" }, { capabilities: { tools: {}, logging: {} } });
  handleCalls(mcp, (_request, ctx) => handle(ctx));
  await mcp.connect(transport);
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    passed.push("method" in message ? message.method : "answer");
    onmessage?.(message, extra);
  };
  openShortWay(mcp, transport);
  const receive = (message: object): void => transport.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const call = (id: number, params: object = {}): void =>
    receive({ id, method: "tools/call", params: { name: "echo", arguments: {}, ...params } });
  const answer = (id: number): Promise<Sent> =>
    vi.waitFor(() => {
      const found = sent.find((message) => message.id === id && message.method === undefined);
      if (found === undefined) throw new Error(`no answer to ${id} among ${JSON.stringify(sent)}`);
      return found;
    });
  return { transport, sent, passed, handle, receive, call, answer };
}

async function serveClient(handler: Handler) {
  const served = await serve(handler);
  served.receive(initialize);
  await served.answer(0);
  served.passed.length = 0;
  return served;
}

test("an ordinary call and its result do not concern the SDK", async () => {
  const { handle, passed, call, answer } = await serveClient(async () => text("hello"));
  call(1);
  expect(await answer(1)).toEqual({ jsonrpc: "2.0", id: 1, result: text("hello") });
  expect(handle).toHaveBeenCalledOnce();
  expect(passed).toEqual([]);
});

test("progress of an ordinary call goes out before its result", async () => {
  const { sent, call, answer } = await serveClient(async ({ mcpReq: { _meta, notify } }) => {
    const params = { progressToken: _meta?.progressToken ?? "", progress: 1 };
    await notify({ method: "notifications/progress", params });
    return text("done");
  });
  call(1, { _meta: { progressToken: "p", "a.b/c": 1 } });
  await answer(1);
  expect(sent.slice(1)).toMatchObject([{ params: { progressToken: "p", progress: 1 } }, { id: 1 }]);
});

test.each<[string, Handler, object]>([
  [
    "an error",
    async () => Promise.reject(new ProtocolError(-32_011, "no", { why: "so" })),
    { error: { code: -32_011, message: "no", data: { why: "so" } } },
  ],
  [
    "what is no result",
    async () => ({ contents: "hello" }) as unknown as CallToolResult,
    { result: { contents: "hello", content: [] } },
  ],
])("%s is told by the SDK, and the call is not made again for that", async (_name, handler, expected) => {
  const { handle, passed, call, answer } = await serveClient(handler);
  call(1);
  expect(await answer(1)).toMatchObject(expected);
  expect(handle).toHaveBeenCalledOnce();
  expect(passed).toEqual(["tools/call"]);
});

test("a question is put by the SDK, which goes on with the answer", async () => {
  const { sent, handle, receive, call, answer } = await serveClient(async ({ mcpReq: { inputResponses } }) => {
    if (inputResponses !== undefined) return text(JSON.stringify(inputResponses["name"]));
    const form = { message: "Who?", requestedSchema: { type: "object", properties: {} } } as const;
    return inputRequired({ inputRequests: { name: inputRequired.elicit(form) } }) as unknown as CallToolResult;
  });
  call(1);
  const question = await vi.waitFor(() => {
    const found = sent.find(({ method }) => method === "elicitation/create");
    if (found === undefined) throw new Error("nothing was asked");
    return found;
  });
  receive({ id: question.id, result: { action: "accept", content: { name: "Ada" } } });
  expect(JSON.stringify((await answer(1)).result)).toContain("Ada");
  expect(handle).toHaveBeenCalledTimes(2);
});

test("a cancelled call is not answered, nor is one whose connection has ended", async () => {
  const aborted: unknown[] = [];
  const { transport, sent, handle, receive, call } = await serveClient(async ({ mcpReq: { signal } }) => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    aborted.push(signal.reason);
    return text("too late");
  });
  call(1);
  call(2);
  receive({ method: "notifications/cancelled", params: { requestId: 1, reason: "enough" } });
  await vi.waitFor(() => expect(aborted).toEqual(["enough"]));
  transport.onclose?.();
  await vi.waitFor(() => expect(aborted).toHaveLength(2));
  await vi.waitFor(() => expect(handle.mock.settledResults.every(({ type }) => type === "fulfilled")).toBe(true));
  expect(sent.filter(({ id }) => id === 1 || id === 2)).toEqual([]);
});

test("before it is known who calls, and under an id that is in use, calls are the SDK's", async () => {
  const { passed, receive, call, answer } = await serve(async ({ mcpReq: { _meta } }) => {
    await vi.waitFor(() => expect(passed.length).toBeGreaterThan(2));
    return text(String(_meta?.["a.b/c"]));
  });
  call(1);
  receive(initialize);
  await answer(0);
  call(2);
  call(2);
  await answer(1);
  await answer(2);
  expect(passed).toEqual(["tools/call", "initialize", "tools/call"]);
});

const params = { name: "echo" };
test.each<[string, object, boolean]>([
  ["with nothing but a name", { id: 1, params }, true],
  [
    "with a text as id, arguments and a trace",
    { id: "a", params: { ...params, arguments: {}, _meta: { traceparent: "00" } } },
    true,
  ],
  ["that waits for progress", { id: 1, params: { ...params, _meta: { progressToken: 7 } } }, true],
  ["that is a notification", { params }, false],
  [
    "of the current protocol",
    { id: 1, params: { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } },
    false,
  ],
  ["that is to be a task", { id: 1, params: { ...params, task: { ttl: 1 } } }, false],
  ["that answers a question", { id: 1, params: { ...params, inputResponses: {} } }, false],
  ["whose arguments are a list", { id: 1, params: { ...params, arguments: [] } }, false],
  ["without params", { id: 1 }, false],
  ["with more than a request has", { id: 1, params, result: {} }, false],
  ["whose token for progress is none", { id: 1, params: { ...params, _meta: { progressToken: {} } } }, false],
])("a call %s: ordinary or not", (_name, message, expected) => {
  expect(isOrdinaryCall({ jsonrpc: "2.0", method: "tools/call", ...message })).toBe(expected);
});
