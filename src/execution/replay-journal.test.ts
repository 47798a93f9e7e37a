import { describe, expect, test } from "vitest";
import type { CallTarget, JournalEntry } from "./journal.ts";
import { Replay } from "./replay-journal.ts";

const target = (tool: string): CallTarget => ({ kind: "tool", tool });

function call(seq: number, node: string, more: { loop?: string; tool?: string; args?: object } = {}): JournalEntry {
  const { loop = "", tool = "fs:read", args = {} } = more;
  return { kind: "call", seq, node, loop, target: target(tool), args: args as never, at: 0 };
}

function answer(seq: number, of: number, value: string): JournalEntry {
  return { kind: "answer", seq, call: of, clock: seq, outcome: { ok: true, value } };
}

const at = (node: string, loop = "", args: object = {}): Parameters<Replay["find"]>[0] => ({
  node,
  loop,
  target: target("fs:read"),
  args: args as never,
});

describe("Replay", () => {
  test("finds answers by node and loop, in any order of calls", () => {
    const replay = new Replay([
      call(0, "n1", { loop: "l1:0" }),
      call(1, "n1", { loop: "l1:1" }),
      answer(2, 1, "second"),
      answer(3, 0, "first"),
    ]);
    expect(replay.find(at("n1", "l1:1"))).toMatchObject({ kind: "answered", answer: { outcome: { value: "second" } } });
    expect(replay.find(at("n1", "l1:0"))).toMatchObject({ kind: "answered", answer: { outcome: { value: "first" } } });
    expect(replay.find(at("n1", "l1:2"))).toEqual({ kind: "new" });
  });

  test("matches several calls at one site in order", () => {
    const replay = new Replay([call(0, "n1"), answer(1, 0, "a"), call(2, "n1"), answer(3, 2, "b")]);
    expect(replay.find(at("n1"))).toMatchObject({ answer: { outcome: { value: "a" } } });
    expect(replay.find(at("n1"))).toMatchObject({ answer: { outcome: { value: "b" } } });
    expect(replay.find(at("n1"))).toEqual({ kind: "new" });
  });

  test("a call without an answer is ambiguous", () => {
    expect(new Replay([call(0, "n1")]).find(at("n1"))).toMatchObject({ kind: "ambiguous", call: { seq: 0 } });
  });

  test("another tool or other arguments at the same site are a divergence", () => {
    const other = { ...at("n1"), target: target("fs:write") };
    expect(new Replay([call(0, "n1")]).find(other)).toMatchObject({ kind: "diverged" });
    const replay = new Replay([call(0, "n1", { args: { path: "a" } })]);
    expect(replay.find(at("n1", "", { path: "b" }))).toMatchObject({ kind: "diverged" });
  });

  test("replays answers in recorded order, and new calls after them", async () => {
    const replay = new Replay([call(0, "n1"), call(1, "n2"), answer(2, 1, "two"), answer(3, 0, "one")]);
    const order: string[] = [];
    const feed = async (node: string): Promise<void> => {
      const found = replay.find(at(node));
      if (found.kind !== "answered") throw new Error(found.kind);
      await replay.turnOf(found.answer);
      order.push(node);
    };
    const fresh = replay.caughtUp.then(() => order.push("new"));
    await Promise.all([feed("n1"), feed("n2"), fresh]);
    expect(order).toEqual(["n2", "n1", "new"]);
  });

  test("consumes recorded decisions", () => {
    const replay = new Replay([{ kind: "decision", seq: 0, node: "d1", loop: "", outcome: "true" }]);
    expect(replay.hasDecision("d1", "")).toBe(true);
    expect(replay.hasDecision("d1", "")).toBe(false);
  });
});
