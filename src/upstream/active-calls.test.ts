import { expect, test } from "vitest";
import { ActiveCalls, type Listener } from "./active-calls.ts";
import type { Turn } from "./turns.ts";

const question = { method: "elicitation/create", params: { message: "Sure?" } };

interface Recorded {
  readonly turn: Turn;
  readonly events: string[];
}

function recordTurn(): Recorded {
  const events: string[] = [];
  const turn: Turn = {
    pause: () => void events.push("pause"),
    resume: async () => void events.push("resume"),
    [Symbol.dispose]: () => undefined,
  };
  return { turn, events };
}

test("ActiveCalls puts a question to the only call under way, which others need not wait for meanwhile", async () => {
  const askers = new Set<string>();
  const calls = new ActiveCalls("files", askers);
  const { turn, events } = recordTurn();
  const listener: Listener = {
    ask: async ({ method }) => {
      events.push("asked");
      return { action: "accept", asked: method };
    },
  };
  using call = calls.begin({ listener, subject: "tools/call delete", turn });
  expect(await calls.ask(question)).toEqual({ action: "accept", asked: "elicitation/create" });
  expect(call.question).toBe("elicitation/create");
  expect(events).toEqual(["pause", "asked", "resume"]);
  expect([...askers]).toEqual(["tools/call delete"]);
});

test("ActiveCalls refuses a question that could belong to several calls, all of which it then suspects", async () => {
  const askers = new Set<string>();
  const calls = new ActiveCalls("files", askers);
  const asked: string[] = [];
  const begin = (who: string) =>
    calls.begin({
      listener: {
        ask: async () => {
          asked.push(who);
          return {};
        },
      },
      subject: who,
      turn: recordTurn().turn,
    });
  const first = begin("first");
  using _second = begin("second");
  await expect(calls.ask(question)).rejects.toThrow(/which of 2 calls.*from now on these are made one by one/);
  expect([...askers]).toEqual(["first", "second"]);
  first[Symbol.dispose]();
  await calls.ask(question);
  expect(asked).toEqual(["second"]);
});

test("ActiveCalls refuses a question that nobody can answer", async () => {
  const calls = new ActiveCalls("files", new Set());
  await expect(calls.ask(question)).rejects.toThrow("files asked something while no call was under way");
  using _call = calls.begin({ listener: {}, subject: "x", turn: recordTurn().turn });
  await expect(calls.ask(question)).rejects.toThrow("Whoever called files cannot answer elicitation/create");
});
