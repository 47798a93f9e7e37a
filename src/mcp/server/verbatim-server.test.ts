import {
  type CallToolResult,
  inputRequired,
  type JSONRPCMessage,
  ProtocolError,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { expect, test, vi } from "vitest";
import { VerbatimServer } from "./verbatim-server.ts";

type Handler = (ctx: ServerContext) => Promise<object>;

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

/** A server of the 2025 era whose client is the test. */
async function serve(handler: Handler) {
  const sent: Sent[] = [];
  const handle = vi.fn<Handler>(handler);
  const transport: Transport = {
    start: async () => undefined,
    close: async () => transport.onclose?.(),
    send: async (message) => void sent.push(message as Sent),
  };
  const server = new VerbatimServer({ name: "test", version: "1" }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler("tools/call", async (_request, ctx) => (await handle(ctx)) as CallToolResult);
  await server.connect(transport);
  const receive = (message: object): void => transport.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const call = (id: number, params: object = {}): void =>
    receive({ id, method: "tools/call", params: { name: "echo", arguments: {}, ...params } });
  const answer = (id: number): Promise<Sent> =>
    vi.waitFor(() => {
      const found = sent.find((message) => message.id === id && message.method === undefined);
      if (found === undefined) throw new Error(`no answer to ${id} among ${JSON.stringify(sent)}`);
      return found;
    });
  receive(initialize);
  await answer(0);
  return { transport, sent, handle, receive, call, answer };
}

test("a result goes out as the handler returned it, with members and content that the protocol does not know", async () => {
  const result = { content: [{ type: "hologram", data: [1] }], later: { a: 1 }, _meta: { "a.b/c": 1 } };
  const { call, answer } = await serve(async () => result);
  call(1);
  expect(await answer(1)).toEqual({ jsonrpc: "2.0", id: 1, result });
});

test("progress of a call goes out before its result", async () => {
  const { sent, call, answer } = await serve(async ({ mcpReq: { _meta, notify } }) => {
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
    "an error keeps its code and data",
    async () => Promise.reject(new ProtocolError(-32_011, "no", { why: "so" })),
    { error: { code: -32_011, message: "no", data: { why: "so" } } },
  ],
  [
    "a result without content gets empty content",
    async () => ({ contents: "hello" }),
    { result: { contents: "hello", content: [] } },
  ],
])("%s", async (_name, handler, expected) => {
  const { handle, call, answer } = await serve(handler);
  call(1);
  expect(await answer(1)).toMatchObject(expected);
  expect(handle).toHaveBeenCalledOnce();
});

test("a question is put to the client, and its answer leads to the result", async () => {
  const { sent, handle, receive, call, answer } = await serve(async ({ mcpReq: { inputResponses } }) => {
    if (inputResponses !== undefined) return text(JSON.stringify(inputResponses["name"]));
    const form = { message: "Who?", requestedSchema: { type: "object", properties: {} } } as const;
    return inputRequired({ inputRequests: { name: inputRequired.elicit(form) } });
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
  const { transport, sent, handle, receive, call } = await serve(async ({ mcpReq: { signal } }) => {
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
