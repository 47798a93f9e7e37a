import type { Client, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { afterEach, expect, test, vi } from "vitest";
import { type CallOptions, callDirectly, sendRequest } from "./direct-calls.ts";

type Sent = JSONRPCMessage & { readonly id: number; readonly method: string; readonly params: Record<string, unknown> };

function connect(era: "legacy" | "modern" = "legacy") {
  const sent: Sent[] = [];
  const left: JSONRPCMessage[] = [];
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message) => void sent.push(message as Sent),
    onmessage: (message) => left.push(message),
  };
  const client = {
    getProtocolEra: () => era,
    request: async () => ({ from: "the SDK" }),
  } as unknown as Client;
  callDirectly(client, transport);
  const progressed: unknown[] = [];
  const call = (options: Partial<CallOptions> = {}): Promise<Record<string, unknown>> =>
    sendRequest(
      client,
      { method: "tools/call", params: { name: "echo", _meta: { "a.b/c": 1 } } },
      { timeout: 1_000, maxTotalTimeout: 2_500, onprogress: (progress) => progressed.push(progress), ...options },
    );
  const receive = (message: object): void => transport.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const progress = (id: unknown, value: number): void =>
    receive({ method: "notifications/progress", params: { progressToken: id, progress: value } });
  return { transport, sent, left, progressed, call, receive, progress };
}

afterEach(() => {
  vi.useRealTimers();
});

test("answers find their calls, in whatever order and whichever way their ids are written", async () => {
  const { sent, left, call, receive } = connect();
  const calls = [call(), call()];
  const [first, second] = sent.map(({ id }) => id);
  expect(sent[0]).toMatchObject({
    method: "tools/call",
    params: { name: "echo", _meta: { "a.b/c": 1, progressToken: first } },
  });
  receive({ id: second, result: { is: "second", resultType: "complete" } });
  receive({ id: String(first), result: { is: "first" } });
  expect(await Promise.all(calls)).toEqual([{ is: "first" }, { is: "second" }]);
  expect(left).toEqual([]);
});

test("what belongs to no direct call is the SDK's", () => {
  const { left, receive, progress } = connect();
  receive({ id: 3, result: {} });
  receive({ id: 0, method: "elicitation/create", params: {} });
  receive({ method: "notifications/message", params: { level: "info" } });
  progress(3, 1);
  expect(left).toHaveLength(4);
});

test("errors keep their code and data, and what is no answer is an error", async () => {
  const { sent, call, receive } = connect();
  const calls = [call(), call(), call()];
  receive({ id: sent[0]?.id, error: { code: -32_011, message: "no", data: { why: "so" } } });
  receive({ id: sent[1]?.id, error: "no" });
  receive({ id: sent[2]?.id, result: "yes" });
  const [refused, ...broken] = await Promise.allSettled(calls);
  expect(refused).toMatchObject({ reason: { code: -32_011, message: "no", data: { why: "so" } } });
  for (const outcome of broken)
    expect(outcome).toMatchObject({ reason: { message: "The server's answer has neither a result nor an error" } });
});

test("progress is told to the last, and gives a call more time, but not for ever", async () => {
  vi.useFakeTimers();
  const { sent, progressed, call, receive, progress } = connect();
  const patient = call();
  vi.advanceTimersByTime(900);
  progress(sent[0]?.id, 1);
  vi.advanceTimersByTime(900);
  progress(sent[0]?.id, 2);
  receive({ id: sent[0]?.id, result: {} });
  await patient;
  expect(progressed).toEqual([{ progress: 1 }, { progress: 2 }]);

  const endless = call();
  for (let beat = 0; beat < 3; beat += 1) {
    vi.advanceTimersByTime(900);
    progress(sent[1]?.id, beat);
  }
  await expect(endless).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
});

test("a call that takes too long, or that nobody wants any more, is cancelled at the server", async () => {
  vi.useFakeTimers();
  const { sent, left, call, receive } = connect();
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
  receive({ id: sent[2]?.id, result: {} }); // it was on its way
  expect(left).toEqual([]);
});

test("calls fail with the connection, and when nothing can be sent", async () => {
  const { transport, call } = connect();
  const open = call();
  transport.onclose?.();
  await expect(open).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  transport.send = async () => Promise.reject(new Error("the server's process has ended"));
  await expect(call()).rejects.toThrow("the server's process has ended");
});

test("requests of the current protocol are left to the SDK", async () => {
  const { sent, call } = connect("modern");
  expect(await call()).toEqual({ from: "the SDK" });
  expect(sent).toEqual([]);
});
