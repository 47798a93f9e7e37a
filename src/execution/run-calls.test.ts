import { expect, test } from "vitest";
import { type Catalogue, indexTools } from "../catalogue/catalogue.ts";
import { askFor } from "../../test/support/approvals.ts";
import type { Effect } from "../permissions/effect.ts";
import { OWNER } from "../registry/scope.ts";
import { Journal, type JournalEntry } from "./journal.ts";
import { CallRefused } from "./ports.ts";
import { Replay } from "./replay-journal.ts";
import { RunBudget } from "./run-budget.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { Secrets } from "../secrets/secrets.ts";
import { type ParkReason, RunCalls, type RunCallsOptions } from "./run-calls.ts";
import type { Run } from "./run-store.ts";
import type { GuestCall } from "./worker-bridge.ts";

const run: Run = {
  id: "run-1",
  scope: { org: "acme", project: "shop" },
  kind: "code",
  recordId: "record-1",
  version: 1,
  sourceHash: "0",
  intent: "test",
  args: {},
  seed: 1,
  startedMs: 0,
  principal: OWNER,
  client: "test",
  parent: undefined,
  options: {},
  approvedTools: [],
  secrets: new RunSecrets(new Secrets()),
};

const put: GuestCall = { kind: "tool", server: "kv", tool: "put", id: 1, node: "n1", loop: "", args: { key: "a" } };
/** The run was interrupted during the call: it is in the journal, its answer is not. */
const begun: JournalEntry = {
  kind: "call",
  seq: 0,
  node: "n1",
  loop: "",
  target: { kind: "tool", tool: "kv:put" },
  args: { key: "a" },
  at: 1,
};

interface Scene {
  readonly calls: RunCalls;
  /** Durable entries and outgoing calls, in order. */
  readonly happened: string[];
  readonly parked: ParkReason[];
}

function createScene(
  effect: Effect,
  recorded: readonly JournalEntry[] = [],
  resolveAmbiguous: RunCallsOptions["resolveAmbiguous"] = () => Promise.resolve(askFor()),
  diskProblem?: Error,
): Scene {
  const happened: string[] = [];
  const parked: ParkReason[] = [];
  const write = async (entries: readonly JournalEntry[]): Promise<void> => {
    if (diskProblem !== undefined) throw diskProblem;
    for (const { kind } of entries) happened.push(`durable ${kind}`);
  };
  const tools: Catalogue = { ...indexTools([]), version: 1, onChange: () => () => undefined };
  const calls = new RunCalls({
    run,
    journal: new Journal(write, recorded),
    replay: new Replay(recorded),
    budget: new RunBudget({ maxCalls: 10, maxJournalBytes: 1_000 }),
    tools,
    caller: { principal: OWNER, client: "test" },
    signal: new AbortController().signal,
    async callTool({ tool, permit }) {
      try {
        await permit({
          id: tool,
          server: "kv",
          name: "put",
          definition: { name: "put", inputSchema: { type: "object" } },
          contentHash: "",
          routing: "local",
          maxResultBytes: undefined,
        });
      } catch (error) {
        // The gateway's pipeline reports every failure as an outcome.
        return { ok: false, error: error instanceof CallRefused ? error.error : { name: "ToolError", message: "" } };
      }
      happened.push(`called ${tool}`);
      return { ok: true, value: 1 };
    },
    callCapability: () => Promise.resolve({ ok: true, value: null }),
    newRunId: () => "run-2",
    guard: () => Promise.resolve({ kind: "allowed", effect }),
    resolveAmbiguous,
    park: (reason) => void parked.push(reason),
    fail: ({ message }) => void happened.push(`failed ${message}`),
  });
  return { calls, happened, parked };
}

test("a call with effects is durable before it goes out; one that reads is not waited for", async () => {
  const writing = createScene("write");
  await writing.calls.call(put);
  expect(writing.happened.slice(0, 2)).toEqual(["durable call", "called kv:put"]);
  const reading = createScene("read");
  await reading.calls.call(put);
  expect(reading.happened[0]).toBe("called kv:put");
});

test.each(["write", "destructive"] as const)(
  "an interrupted call that is %s parks the run and is not made again",
  async (effect) => {
    const { calls, happened, parked } = createScene(effect, [begun]);
    void calls.call(put);
    await expect.poll(() => parked).toMatchObject([{ kind: "asked" }]);
    expect(happened).toEqual([]);
  },
);

test.each(["read", "idempotent"] as const)("an interrupted call that is %s is made again", async (effect) => {
  const { calls, happened, parked } = createScene(effect, [begun]);
  expect(await calls.call(put)).toMatchObject({ ok: true, value: 1 });
  expect([happened.includes("called kv:put"), parked]).toEqual([true, []]);
});

test("a person's decision makes an interrupted call again or gives the program an error", async () => {
  const repeated = createScene("write", [begun], () => Promise.resolve("repeat"));
  expect(await repeated.calls.call(put)).toMatchObject({ ok: true, value: 1 });
  const givenUp = createScene("write", [begun], () => Promise.resolve("give_up"));
  expect(await givenUp.calls.call(put)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("whether it happened is not known") },
  });
  expect(givenUp.happened.includes("called kv:put")).toBe(false);
});

test("a journal that cannot be written fails the run before the call, and looks like no tool's failure", async () => {
  const { calls, happened } = createScene("write", [], undefined, new Error("disk full"));
  const answered = calls.call(put).then(() => happened.push("answered"));
  await expect.poll(() => happened).toEqual(["failed disk full"]);
  await Promise.race([answered, new Promise((resolve) => setImmediate(resolve))]);
  expect(happened).toEqual(["failed disk full"]);
});
