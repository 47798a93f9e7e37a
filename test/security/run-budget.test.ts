/** One run with everything nested in it stays within the limits of the person, whatever its request says. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { execute, type Executed } from "../support/execute.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";

const WALL_MS = 3_000;
const MOST_CALLS = 10;

let scene: CountingScene;
let agent: TestClient;

beforeAll(async () => {
  scene = await openCountingScene({ sandbox: { wallMs: WALL_MS, maxCalls: MOST_CALLS } });
  agent = await connectClient(scene.home.path);
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const SLOW_MS = 20_000;
const dag = { tasks: [{ id: "slow", tool: "counting:slow", arguments: { ms: SLOW_MS } }] };

test.each([
  ["a program", { code: `return await mcp.counting.slow({ ms: ${SLOW_MS} })` }],
  ["a DAG", { dag }],
  ["a tool", { accept_suggestion: { callName: "counting:slow", args: { ms: SLOW_MS } } }],
])("a request cannot raise the limit of time of %s", async (_name, request) => {
  const answer = await execute(agent.client, { ...request, options: { timeout: 3_600 } });
  expect(answer.error).toMatchObject({ code: "limit_exceeded", hint: "The limit is sandbox.wallMs." });
  expect(answer.executionTimeMs).toBeLessThan(SLOW_MS / 2);
  expect(answer.warnings).toContain("options.timeout was lowered to 3 seconds, the limit sandbox.wallMs");
});

test("a request can lower the limit of time", async () => {
  const code = `return await mcp.counting.slow({ ms: ${SLOW_MS + 1} })`;
  const answer = await execute(agent.client, { code, options: { timeout: 0.5 } });
  expect(answer.error).toMatchObject({ code: "limit_exceeded" });
  expect(answer.warnings).toEqual([]);
  const quick = await execute(agent.client, { code: `return (await mcp.counting.list({ length: 1 })).items` });
  expect(quick).toMatchObject({ status: "success", result: [0], warnings: [] });
});

const reads = (key: string): number => scene.happened().filter((line) => line === `read ${key}`).length;

/** Names a capability that reads three times. */
async function saveReader(key: string): Promise<void> {
  const code = `for (let i = 0; i < 3; i++) await mcp.counting.read({ key: "${key}" }); return 3;`;
  const once = await execute(agent.client, { code, name: `${key}:three` });
  expect(once).toMatchObject({ status: "success" });
}

test("calls of nested capabilities count for the run that they are made in", async () => {
  await saveReader("flat");
  const before = reads("flat");
  const code = `
    let failed = 0;
    for (let i = 0; i < 9; i++) try { await capabilities.flat.three({}); } catch { failed++; }
    return failed;`;
  const answer = await execute(agent.client, { code });
  expect(answer.error).toMatchObject({ code: "limit_exceeded", hint: "The limit is sandbox.maxCalls." });
  expect(reads("flat") - before).toBeGreaterThan(3);
  expect(reads("flat") - before).toBeLessThan(MOST_CALLS);
});

test("a run that goes on after a stop has no new calls", async () => {
  await saveReader("parked");
  const before = reads("parked");
  const code = `for (let i = 0; i < 9; i++) await capabilities.parked.three({}); return 1;`;
  let answer: Executed = await execute(agent.client, { code, options: { per_layer_validation: true } });
  let stops = 0;
  while (answer.status === "layer_complete") {
    stops += 1;
    answer = await execute(agent.client, { continue_workflow: { workflow_id: answer.workflowId } });
  }
  expect(stops).toBeGreaterThan(0);
  expect(answer.error).toMatchObject({ code: "limit_exceeded" });
  expect(reads("parked") - before).toBeLessThan(MOST_CALLS);
});
