/** A run keeps only as much as a person allows, and nobody hears of a success that is not there later. */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { approve } from "../support/decide.ts";
import { execute, type Executed } from "../support/execute.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const MOST_BYTES = 1_000_000;

let scene: CountingScene;

beforeAll(async () => {
  const config = { sandbox: { maxJournalBytes: MOST_BYTES }, permissions: { allow: ["large:*"] } };
  scene = await openCountingScene(config, () => ({ large: servers.large() }));
});
afterAll(() => scene[Symbol.asyncDispose]());

interface ShownRun {
  readonly state: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string };
}

function show(id = ""): Promise<ShownRun> {
  return runJson<ShownRun>(["run-show", id], { home: scene.home.path });
}

/** Sends a request, and goes on with it as often as a person has to approve. */
async function executeApproved(request: Record<string, unknown>): Promise<Executed & { readonly run: string }> {
  const home = scene.home.path;
  await using connected = await connectClient(home);
  let answer = await execute(connected.client, request);
  const run = answer.workflowId;
  while (answer.status === "approval_required") {
    await approve(home, answer.approval?.id);
    answer = await execute(connected.client, { continue_workflow: { workflow_id: run } });
  }
  return { ...answer, run };
}

/** About 260 KB. */
const READ = `(await mcp.large.write_text({ count: 20_000 })).length`;
const exceeded = { code: "limit_exceeded", hint: "The limit is sandbox.maxJournalBytes." };

test("results of a run and of the capabilities in it have one limit of bytes", async () => {
  await using connected = await connectClient(scene.home.path);
  const { client } = connected;
  const code = `let sum = 0; for (let i = 0; i < args.times; i++) sum += ${READ}; return sum;`;
  expect(await execute(client, { code, args: { times: 2 }, name: "long:twice" })).toMatchObject({ status: "success" });
  const direct = await execute(client, { code, args: { times: 30 } });
  expect(direct.error).toMatchObject(exceeded);
  expect(direct.tasks.length).toBeLessThan(5);
  const nested = `
    let failed = 0;
    for (let i = 0; i < 15; i++) try { await capabilities.long.twice({ times: 2, count: 20_000 }); } catch { failed++; }
    return failed;`;
  const below = await execute(client, { code: nested });
  expect(below.error).toMatchObject(exceeded);
  expect(below.tasks.length).toBeLessThan(5);
  expect(await show(below.workflowId)).toMatchObject({ state: "failed", error: { code: "limit_exceeded" } });
});

test("arguments and decisions count as well", async () => {
  await using connected = await connectClient(scene.home.path);
  const { client } = connected;
  const code = `
    const key = "k".repeat(200_000);
    for (let i = 0; i < 30; i++) await mcp.counting.read({ key });`;
  expect((await execute(client, { code })).error).toMatchObject(exceeded);
  const loop = `for (let i = 0; i < 90_000; i++) if (i < 0) await mcp.counting.read({ key: "never" });`;
  expect((await execute(client, { code: loop })).error).toMatchObject(exceeded);
});

/** Half of an id that no index of the database takes or can compress; Chinese, since no secret looks like that. */
const half = (): string => Array.from({ length: 490 }, () => String.fromCodePoint(randomInt(0x4e00, 0x9000))).join("");
const LONG_ID = { server: half(), tool: half() };
const CODE = `
  await mcp.counting.add({ key: args.key });
  try { await mcp[args.server][args.tool]({}); } catch { return "unknown"; }`;
const adds = (key: string): number => scene.happened().filter((line) => line === `add ${key}`).length;

test("a run whose end cannot be stored has failed, for its caller and after a restart", async () => {
  const answer = await executeApproved({ code: CODE, args: { key: "new", ...LONG_ID } });
  expect(answer.error).toMatchObject({ code: "run_not_stored", hint: expect.stringContaining("pml logs") as string });
  const failed = { state: "failed", error: { code: "run_not_stored" } };
  expect(await show(answer.run)).toMatchObject(failed);
  await scene.restart();
  expect(await show(answer.run)).toMatchObject(failed);
  expect(adds("new")).toBe(1);
});

test("a success that a caller heard of is there after a restart, if not with its details", async () => {
  const known = `${CODE} // a program that has run before`;
  expect(await executeApproved({ code: known, args: { key: "first", server: "a", tool: "b" } })).toMatchObject({
    status: "success",
  });
  const answer = await executeApproved({ code: known, args: { key: "second", ...LONG_ID } });
  expect(answer).toMatchObject({ status: "success", result: "unknown" });
  await scene.restart();
  expect(await show(answer.run)).toMatchObject({ state: "succeeded", result: "unknown" });
  expect(adds("second")).toBe(1);
});
