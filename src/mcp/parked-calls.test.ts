import { afterEach, expect, test, vi } from "vitest";
import { ParkedCalls } from "./parked-calls.ts";

const question = { method: "elicitation/create", params: { message: "Sure?" } };
const never = new AbortController().signal;

afterEach(() => {
  vi.useRealTimers();
});

test("ParkedCalls passes on the result of a call that asks nothing, and its failure", async () => {
  const parked = new ParkedCalls();
  expect(await parked.start(never, async () => ({ ok: true }))).toEqual({ kind: "result", result: { ok: true } });
  const failing = parked.start(never, () => Promise.reject(new Error("it broke")));
  await expect(failing).rejects.toThrow("it broke");
});

test("ParkedCalls stops a call at each question and goes on with the answer, once", async () => {
  const parked = new ParkedCalls();
  const first = await parked.start(never, async (ask) => {
    const one = await ask(question);
    const two = await ask({ method: "sampling/createMessage" });
    return { one, two };
  });
  if (first.kind !== "question") throw new Error("it did not ask");
  expect(first.question).toEqual(question);
  const second = await parked.resume(first.call, { action: "accept" }, never);
  expect(second).toMatchObject({ kind: "question", question: { method: "sampling/createMessage" } });
  expect(await parked.resume(first.call, { role: "assistant" }, never)).toEqual({
    kind: "result",
    result: { one: { action: "accept" }, two: { role: "assistant" } },
  });
  expect(await parked.resume(first.call, {}, never)).toBeUndefined();
});

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    if (signal.aborted) reject(signal.reason as Error);
  });
}

test("ParkedCalls cancels a call whose caller gives up, also one that gave up before", async () => {
  const parked = new ParkedCalls();
  const abort = new AbortController();
  const call = parked.start(abort.signal, (_ask, signal) => untilAborted(signal));
  abort.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  await expect(parked.start(abort.signal, (_ask, signal) => untilAborted(signal))).rejects.toThrow("enough");
});

test("ParkedCalls ends a call that nobody answers in time, the oldest when there are too many, and all at the end", async () => {
  vi.useFakeTimers();
  const parked = new ParkedCalls();
  const ended: string[] = [];
  const park = async (): Promise<string> => {
    const outcome = await parked.start(never, (ask, signal) => {
      signal.addEventListener("abort", () => ended.push((signal.reason as Error).message));
      return ask(question);
    });
    return outcome.kind === "question" ? outcome.call : "";
  };
  const first = await park();
  vi.advanceTimersByTime(10 * 60 * 1000);
  expect(ended).toEqual(["nobody answered the server's question in time"]);
  expect(await parked.resume(first, {}, never)).toBeUndefined();
  for (let count = 0; count < 257; count += 1) await park();
  expect(ended).toHaveLength(2);
  parked.cancelAll();
  expect(ended).toHaveLength(258);
  expect(ended.at(-1)).toBe("PML is ending");
});
