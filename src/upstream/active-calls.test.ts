import { expect, test } from "vitest";
import { ActiveCalls, type Listener } from "./active-calls.ts";
import { Gate } from "./gate.ts";

const question = { method: "elicitation/create", params: { message: "Sure?" } };

test("ActiveCalls puts a question to the only call under way", async () => {
  const calls = new ActiveCalls("files", new Gate(32, 10));
  using call = calls.begin({ ask: async (asked) => ({ action: "accept", asked: asked.method }) });
  expect(await calls.ask(question)).toEqual({ action: "accept", asked: "elicitation/create" });
  expect(call.question).toBe("elicitation/create");
});

test("ActiveCalls refuses a question that could belong to several calls, and takes one at a time from then on", async () => {
  const gate = new Gate(32, 10);
  const calls = new ActiveCalls("files", gate);
  const asked: string[] = [];
  const answering = (who: string): Listener => ({
    ask: async () => {
      asked.push(who);
      return {};
    },
  });
  const first = calls.begin(answering("first"));
  using _second = calls.begin(answering("second"));
  await expect(calls.ask(question)).rejects.toThrow(/which of 2 calls.*calls to files are made one by one/);
  await gate.enter(undefined);
  const waiting = gate.enter(undefined);
  expect(await Promise.race([waiting, Promise.resolve("waits")])).toBe("waits");
  first[Symbol.dispose]();
  await calls.ask(question);
  expect(asked).toEqual(["second"]);
});

test("ActiveCalls refuses a question that nobody can answer", async () => {
  const calls = new ActiveCalls("files", new Gate(32, 10));
  await expect(calls.ask(question)).rejects.toThrow("files asked something while no call was under way");
  using _call = calls.begin({});
  await expect(calls.ask(question)).rejects.toThrow("Whoever called files cannot answer elicitation/create");
});
