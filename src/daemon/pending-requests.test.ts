import { expect, test } from "vitest";
import { failureLine, isRepeatable, PendingRequests } from "./pending-requests.ts";

function request(id: unknown, method: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method });
}

function answer(id: unknown, result: unknown = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

test("PendingRequests keeps a request open until its answer, and ids keep their type", () => {
  const pending = new PendingRequests();
  pending.noteRequest(request(1, "tools/list"));
  pending.noteRequest(request("1", "tools/call"));
  pending.noteAnswer(answer(1));
  expect(pending.open.map(({ method }) => method)).toEqual(["tools/call"]);
});

test("PendingRequests closes a cancelled request", () => {
  const pending = new PendingRequests();
  pending.noteRequest(request(7, "tools/call"));
  pending.noteRequest(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }));
  expect(pending.open).toEqual([]);
});

test("PendingRequests recognises an answer of megabytes, with its id in front or at the end", () => {
  const pending = new PendingRequests();
  const big = "x".repeat(100_000);
  pending.noteRequest(request(1, "a"));
  pending.noteRequest(request("two", "b"));
  pending.noteAnswer(answer(1, big));
  pending.noteAnswer(JSON.stringify({ result: { id: 99, big }, jsonrpc: "2.0", id: "two" }));
  expect(pending.open).toEqual([]);
});

test("PendingRequests ignores a request of the server to the client, wherever its id is", () => {
  const pending = new PendingRequests();
  pending.noteRequest(request(1, "tools/call"));
  pending.noteAnswer(request(1, "elicitation/create"));
  pending.noteAnswer(`{"method":"elicitation/create","params":{},"jsonrpc":"2.0","id":1}`);
  expect(pending.open).toHaveLength(1);
});

test("PendingRequests repeats the handshake only once it was answered", () => {
  const pending = new PendingRequests();
  pending.noteRequest(request(0, "initialize"));
  expect(pending.handshake).toBeUndefined();
  pending.noteAnswer(answer(0));
  pending.noteRequest(`{"jsonrpc":"2.0","method":"notifications/initialized"}`);
  expect(pending.handshake?.initialize.line).toBe(request(0, "initialize"));
  expect(pending.handshake?.initialized).toContain("notifications/initialized");
});

test("isRepeatable accepts reads and refuses a tool call", () => {
  expect(isRepeatable({ id: 1, method: "tools/list", line: "" })).toBe(true);
  expect(isRepeatable({ id: 1, method: "tools/call", line: "" })).toBe(false);
});

test("PendingRequests ignores a line that is not JSON", () => {
  const pending = new PendingRequests();
  pending.noteRequest("not json");
  pending.noteAnswer("[1]");
  expect(pending.open).toEqual([]);
});

test("failureLine is a JSON-RPC error for the request", () => {
  expect(JSON.parse(failureLine({ id: "a", method: "m", line: "" }, "gone"))).toEqual({
    jsonrpc: "2.0",
    id: "a",
    error: { code: -32_603, message: "gone" },
  });
});
