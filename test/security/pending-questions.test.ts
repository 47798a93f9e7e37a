/** Questions and waiting runs are limited, and none pushes another off the inbox. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/contract/routes.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { approve, reachAsPerson } from "../support/decide.ts";
import { execute, type Executed } from "../support/execute.ts";
import { call } from "../support/gateway-home.ts";
import { connectClient, type TestClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";

const MOST = 30;
const PARKED = 40;

let scene: CountingScene;
let agent: TestClient;

beforeAll(async () => {
  scene = await openCountingScene({
    approvals: { maxPending: MOST },
    runs: { maxParked: PARKED },
    permissions: { ask: ["counting:put"] },
  });
  agent = await connectClient(scene.home.path, { transport: "http", era: "auto" });
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const ask = (key: string): Promise<Executed> =>
  execute(agent.client, { intent: key, code: `return await mcp.counting.add({ key: "${key}" })` });

interface Item {
  readonly kind: string;
  readonly id: string;
  readonly intent: string;
}

test("M7: 250 questions, many at once, leave the first one in its place", { timeout: 120_000 }, async () => {
  const home = scene.home.path;
  const real = await ask("the real question");
  const asked: Executed[] = [];
  for (let at = 0; at < 250; at += 25) {
    asked.push(...(await Promise.all(Array.from({ length: 25 }, (_each, index) => ask(`flood ${at + index}`)))));
  }
  expect(asked.filter(({ status }) => status === "approval_required")).toHaveLength(MOST - 1);
  const refused = asked.filter(({ status }) => status === "error");
  expect(refused).toHaveLength(250 - (MOST - 1));
  expect(new Set(refused.map(({ error }) => `${error?.code} ${error?.hint}`))).toEqual(
    new Set([expect.stringMatching(/^limit_exceeded .*approvals\.maxPending$/)]),
  );
  const direct = await call(agent.client, "counting__put", { key: "direct" });
  expect(direct).toMatchObject({ isError: true, text: expect.stringContaining("approvals.maxPending") });
  // a question that is open already is the same one
  expect((await ask("the real question")).approval?.id).toBe(real.approval?.id);

  const items = await runJson<Item[]>(["inbox"], { home });
  expect(items).toHaveLength(MOST);
  expect(items[0]).toMatchObject({ kind: "approval", id: real.approval?.id, intent: "the real question" });
  expect((await runPml(["inbox"], { home })).stdout.split("\t")[0]).toBe(real.approval?.id);
  const person = await reachAsPerson(home);
  const seen: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const query = { limit: 7, offset };
    const page: { items: readonly object[]; next?: number | undefined } = await callDaemon(person, routes.listInbox, {
      query,
    });
    expect(page.items.length).toBeLessThanOrEqual(7);
    seen.push(...page.items.map((item) => (item as Item).id));
    offset = page.next;
  }
  expect(seen).toEqual(items.map(({ id }) => id));

  await approve(home, real.approval?.id);
  const resumed = await execute(agent.client, { continue_workflow: { workflow_id: real.workflowId } });
  expect(resumed.status).toBe("success");
  expect((await ask("room again")).status).toBe("approval_required");
});

test("M7: runs that wait between layers are limited as well, and the last one fails in order", async () => {
  const layers = (key: number): Promise<Executed> =>
    execute(agent.client, {
      code: `await mcp.counting.read({ key: "${key}" }); await mcp.counting.read({ key: "then" }); return 1`,
      options: { per_layer_validation: true },
    });
  let last = await layers(0);
  for (let key = 1; key <= PARKED && last.status === "layer_complete"; key += 1) last = await layers(key);
  expect(last).toMatchObject({ status: "error", error: { code: "limit_exceeded" } });
  expect(last.error?.hint).toContain("runs.maxParked");
  const parked = await callDaemon(await reachAsPerson(scene.home.path), routes.listRuns, {
    query: { state: "parked", limit: 500 },
  });
  expect(parked).toHaveLength(PARKED);
  const failed = await callDaemon(await reachAsPerson(scene.home.path), routes.getRun, {
    params: { id: last.workflowId },
  });
  expect(failed).toMatchObject({ state: "failed" });
  const [first] = parked;
  const ending = { continue_workflow: { workflow_id: first?.id, approved: false } };
  expect(await execute(agent.client, ending)).toMatchObject({ status: "error", error: { code: "cancelled" } });
  expect((await layers(99)).status).toBe("layer_complete");
});

test("M7: a parked run expires, says so, and cannot be gone on with", async () => {
  await using short = await openCountingScene({ runs: { parkedDays: 0.000_01 } });
  await using client = await connectClient(short.home.path);
  const code = `return await mcp.counting.add({ key: "late" })`;
  const asked = await execute(client.client, { code });
  expect(asked.status).toBe("approval_required");
  await approve(short.home.path, asked.approval?.id);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const going = { continue_workflow: { workflow_id: asked.workflowId } };
  const late = await execute(client.client, going);
  expect(late).toMatchObject({ status: "error", error: { code: "run_expired" } });
  expect(late.error?.hint).toContain("runs.parkedDays");
  expect(await execute(client.client, going)).toMatchObject({ status: "error", error: { code: "run_expired" } });
  expect(short.happened()).toEqual([]);
});
