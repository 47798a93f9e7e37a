import { expect, test } from "vitest";
import { Gate, QueueFull } from "./gate.ts";

/** Whether it has been let in by now. */
async function isIn(entering: Promise<Disposable>): Promise<boolean> {
  return Promise.race([entering.then(() => true), new Promise<false>((resolve) => setTimeout(resolve, 5, false))]);
}

test("Gate lets in as many as its limit, the next one when one leaves, in order", async () => {
  const gate = new Gate(2, 10);
  const first = await gate.enter(undefined);
  await gate.enter(undefined);
  const third = gate.enter(undefined);
  const fourth = gate.enter(undefined);
  expect([await isIn(third), gate.inFlight]).toEqual([false, 2]);
  first[Symbol.dispose]();
  first[Symbol.dispose](); // leaving twice frees one place only
  expect([await isIn(third), await isIn(fourth), gate.inFlight]).toEqual([true, false, 2]);
});

test("Gate refuses at once when its queue is full, and says how to change that", async () => {
  const gate = new Gate(1, 1);
  await gate.enter(undefined);
  void gate.enter(undefined);
  await expect(gate.enter(undefined)).rejects.toThrow(QueueFull);
  await expect(gate.enter(undefined)).rejects.toThrow(/busy with 1 calls and 1 are waiting.*maxInFlight/);
});

test("Gate forgets a caller that gives up while it waits", async () => {
  const gate = new Gate(1, 1);
  const first = await gate.enter(undefined);
  const abort = new AbortController();
  const second = gate.enter(abort.signal);
  abort.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  const third = gate.enter(undefined);
  first[Symbol.dispose]();
  expect([await isIn(third), gate.inFlight]).toEqual([true, 1]);
  await expect(gate.enter(abort.signal)).rejects.toThrow("enough");
});
