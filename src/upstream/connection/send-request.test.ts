import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { afterEach, expect, test, vi } from "vitest";
import { type SendOptions, sendRequest } from "./send-request.ts";

type Sent = JSONRPCMessage & { readonly id: number; readonly method: string; readonly params: Record<string, unknown> };

/** A client of the 2025 era whose server is the test. */
async function connect() {
  const sent: Sent[] = [];
  const transport: Transport = {
    start: async () => undefined,
    close: async () => transport.onclose?.(),
    send: async (message) => void sent.push(message as Sent),
  };
  const receive = (message: object): void => transport.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const client = new Client({ name: "test", version: "1" });
  const connecting = client.connect(transport, { prior: { kind: "legacy" } });
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  const serverInfo = { name: "server", version: "1" };
  receive({ id: sent[0]?.id, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo } });
  await connecting;
  sent.length = 0;
  const progressed: unknown[] = [];
  const call = (options: Partial<SendOptions> = {}): Promise<Record<string, unknown>> =>
    sendRequest(
      client,
      { method: "tools/call", params: { name: "echo", _meta: { "a.b/c": 1 } } },
      { timeout: 1_000, maxTotalTimeout: 2_500, onprogress: (progress) => progressed.push(progress), ...options },
    );
  const progress = async (id: unknown, value: number): Promise<void> => {
    receive({ method: "notifications/progress", params: { progressToken: id, progress: value } });
    await vi.waitFor(() => undefined); // notifications are handled a turn later
  };
  return { transport, sent, progressed, call, receive, progress };
}

afterEach(() => {
  vi.useRealTimers();
});

test("answers find their calls, in whatever order and whichever way their ids are written", async () => {
  const { sent, call, receive } = await connect();
  const calls = [call(), call()];
  const [first, second] = sent.map(({ id }) => id);
  expect(sent[0]).toMatchObject({
    method: "tools/call",
    params: { name: "echo", _meta: { "a.b/c": 1, progressToken: first } },
  });
  receive({ id: second, result: { is: "second", resultType: "complete" } });
  receive({ id: String(first), result: { is: "first" } });
  expect(await Promise.all(calls)).toEqual([{ is: "first" }, { is: "second" }]);
});

test("errors keep their code and data", async () => {
  const { sent, call, receive } = await connect();
  const refused = call();
  receive({ id: sent[0]?.id, error: { code: -32_011, message: "no", data: { why: "so" } } });
  await expect(refused).rejects.toMatchObject({ code: -32_011, message: "no", data: { why: "so" } });
});

test("progress is told to the last, and gives a call more time, but not for ever", async () => {
  const { sent, progressed, call, receive, progress } = await connect();
  vi.useFakeTimers();
  const patient = call();
  vi.advanceTimersByTime(900);
  await progress(sent[0]?.id, 1);
  vi.advanceTimersByTime(900);
  await progress(sent[0]?.id, 2);
  receive({ id: sent[0]?.id, result: {} });
  await patient;
  expect(progressed).toEqual([{ progress: 1 }, { progress: 2 }]);

  const endless = call();
  const failure = endless.catch((error: unknown) => error);
  for (let beat = 0; beat < 3; beat += 1) {
    vi.advanceTimersByTime(900);
    await progress(sent[1]?.id, beat);
  }
  expect(await failure).toMatchObject({ code: "REQUEST_TIMEOUT" });
  expect(sent[2]).toMatchObject({ method: "notifications/cancelled", params: { requestId: sent[1]?.id } });
});

test("a call that takes too long, or that nobody wants any more, is cancelled at the server", async () => {
  const { sent, call, receive } = await connect();
  vi.useFakeTimers();
  const late = call();
  vi.advanceTimersByTime(1_000);
  await expect(late).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
  const abort = new AbortController();
  const unwanted = call({ signal: abort.signal });
  abort.abort("enough");
  await expect(unwanted).rejects.toThrow("enough");
  await expect(call({ signal: abort.signal })).rejects.toThrow("enough");
  expect(sent.map(({ method }) => method)).toEqual([
    "tools/call",
    "notifications/cancelled",
    "tools/call",
    "notifications/cancelled",
  ]);
  expect(sent[3]?.params).toEqual({ requestId: sent[2]?.id, reason: "enough" });
  expect(() => receive({ id: sent[2]?.id, result: {} })).not.toThrow(); // it was on its way
});

test("calls fail with the connection, and when nothing can be sent", async () => {
  const { transport, call } = await connect();
  transport.send = async () => Promise.reject(new Error("the server's process has ended"));
  await expect(call()).rejects.toThrow("the server's process has ended");
  transport.send = async () => undefined;
  const open = call();
  transport.onclose?.();
  await expect(open).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
});
