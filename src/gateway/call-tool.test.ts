import { expect, test } from "vitest";
import { callTool, type CallSteps, type SentCall, type ToolTarget } from "./call-tool.ts";
import type { ToolUse } from "./usage/usage-store.ts";

interface Recorded {
  readonly steps: string[];
  readonly uses: ToolUse[];
  readonly answer: Promise<unknown>;
}

function run(
  more: Partial<CallSteps<ToolTarget, SentCall, string>> = {},
  signal = new AbortController().signal,
): Recorded {
  const steps: string[] = [];
  const uses: ToolUse[] = [];
  const all: CallSteps<ToolTarget, SentCall, string> = {
    resolve: (name) => ({ server: "kv", name: name.slice("kv:".length) }),
    permit: () => Promise.resolve(),
    send: () => Promise.resolve({ result: { content: [{ type: "text", text: "found" }] } }),
    fit: (_sent, _target, size) => `fitted ${size}`,
    ...more,
  };
  const answer = callTool(
    { name: "kv:get", args: { key: "a" }, client: "tester", signal },
    {
      resolve: (name) => (steps.push("resolve"), all.resolve(name)),
      permit: (target) => (steps.push("permit"), all.permit(target)),
      send: (target) => (steps.push("send"), all.send(target)),
      fit: (...given) => (steps.push("fit"), all.fit(...given)),
    },
    {
      record(use) {
        steps.push("record");
        uses.push(use);
      },
    },
  );
  return { steps, uses, answer };
}

test("callTool resolves, permits, sends, records and fits, in that order", async () => {
  const { steps, uses, answer } = run();
  expect(await answer).toBe("fitted 31");
  expect(steps).toEqual(["resolve", "permit", "send", "record", "fit"]);
  expect(uses).toMatchObject([{ server: "kv", tool: "get", client: "tester", outcome: "success", responseBytes: 31 }]);
});

test("callTool records a name that stands for nothing as refused, as it was spelled", async () => {
  const { steps, uses, answer } = run({ resolve: () => Promise.reject(new RangeError("unknown")) });
  await expect(answer).rejects.toThrow("unknown");
  expect(steps).toEqual(["resolve", "record"]);
  expect(uses).toMatchObject([{ server: "", tool: "kv:get", outcome: "refused", errorCode: "RangeError" }]);
});

test("callTool sends nothing that is not permitted, and records the refusal", async () => {
  const { steps, uses, answer } = run({ permit: () => Promise.reject(new Error("no")) });
  await expect(answer).rejects.toThrow("no");
  expect(steps).toEqual(["resolve", "permit", "record"]);
  expect(uses).toMatchObject([{ server: "kv", tool: "get", outcome: "refused" }]);
});

test("callTool records a failure to send as an error, or as cancelled where the caller gave up", async () => {
  const lost = { send: () => Promise.reject(new Error("lost")) };
  const failed = run(lost);
  await expect(failed.answer).rejects.toThrow("lost");
  expect(failed.uses).toMatchObject([{ outcome: "error" }]);
  const cancelled = run(lost, AbortSignal.abort());
  await expect(cancelled.answer).rejects.toThrow("lost");
  expect(cancelled.uses).toMatchObject([{ outcome: "cancelled" }]);
});

test("callTool records no call that was given up before it went out, and none that stops at a question", async () => {
  const stopped = run({ permit: () => Promise.reject(new Error("stopped")) }, AbortSignal.abort());
  await expect(stopped.answer).rejects.toThrow("stopped");
  const asked = run({ send: () => Promise.resolve({ result: { resultType: "input_required" } }) });
  await asked.answer;
  expect([stopped.uses, asked.uses]).toEqual([[], []]);
});

test("callTool records a call once, also where its result cannot be fitted", async () => {
  const { uses, answer } = run({ fit: () => Promise.reject(new Error("too large")) });
  await expect(answer).rejects.toThrow("too large");
  expect(uses).toMatchObject([{ outcome: "success" }]);
});
