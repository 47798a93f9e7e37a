import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import {
  caller,
  createEngineScene,
  createTestSandbox,
  type EngineScene,
  scope,
} from "../../test/support/engine-scene.ts";
import type { DatabaseClient } from "../db/client.ts";
import { OWNER } from "../registry/scope.ts";
import type { JsonValue } from "../base/json.ts";
import { readLearning } from "../learning/learning-store.ts";
import type { ProcessSandbox } from "../sandbox/sandbox.ts";
import type { RunAnswer } from "../contract/execute.ts";
import { expireParkedRuns } from "./parked-store.ts";
import { findRun, readJournal } from "./run-store.ts";

let sandbox: ProcessSandbox;
beforeAll(() => {
  sandbox = createTestSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

function resultOf(answer: RunAnswer): JsonValue | undefined {
  if (answer.status !== "success") throw new Error(JSON.stringify(answer));
  return answer.result;
}

function go(scene: EngineScene, answer: RunAnswer): Promise<RunAnswer> {
  return scene.engine.continueRun(scope, answer.workflowId ?? "", { caller, signal: new AbortController().signal });
}

async function decide(scene: EngineScene, answer: RunAnswer, decision: "approve" | "refuse"): Promise<void> {
  if (answer.status !== "approval_required") throw new Error(JSON.stringify(answer));
  await scene.permissions.decideApproval(scope, answer.approval.id, { decision, by: "bob", via: "cli" });
}

describe.each(engines)("Engine on %s", (kind) => {
  let client: DatabaseClient;
  beforeAll(async () => {
    client = await openTestDatabase(kind);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test("asks again about a tool that changed before its call", async () => {
    const scene = await createEngineScene(client, sandbox);
    const asked = await scene.run(`return (await mcp.kv.add({ key: "stale" })).done`);
    await decide(scene, asked, "approve");
    scene.changing.add("kv:add");
    const again = await go(scene, asked);
    expect(again.status).toBe("approval_required");
    expect(scene.calls).toEqual([]);
    // the call was approved; the changed tool makes it another plan, which is asked about as a whole
    await decide(scene, again, "approve");
    const whole = await go(scene, again);
    await decide(scene, whole, "approve");
    expect(resultOf(await go(scene, whole))).toBe(1);
  });

  test("a finished run stands where nothing can be learned from it", async () => {
    const scene = await createEngineScene(client, sandbox);
    await client.db.schema.alterTable("output_schema").renameTo("output_schema_gone").execute();
    try {
      const answer = await scene.run(`return await mcp.kv.get({ key: "unlearned" })`);
      expect(resultOf(answer)).toEqual({ value: "unlearned" });
    } finally {
      await client.db.schema.alterTable("output_schema_gone").renameTo("output_schema").execute();
    }
  });

  test("a job fails parked runs that nobody went on with, and forgets their journals", async () => {
    const scene = await createEngineScene(client, sandbox);
    const layers = `await mcp.kv.get({ key: "old" }); await mcp.kv.get({ key: "then" }); return 1`;
    const { workflowId: id = "" } = await scene.run(layers, { options: { perLayerValidation: true } });
    await expireParkedRuns(client.db, 1);
    expect(await findRun(client.db, scope, id)).toMatchObject({ state: "parked" });
    expect(await readJournal(client.db, scope, id)).not.toEqual([]);
    await expireParkedRuns(client.db, 0);
    expect(await findRun(client.db, scope, id)).toMatchObject({ state: "failed", error: { code: "run_expired" } });
    expect(await readJournal(client.db, scope, id)).toEqual([]);
  });

  test("runs code, stores the journal, and learns paths and decisions", async () => {
    const scene = await createEngineScene(client, sandbox);
    const code = `
      const a = await mcp.kv.get({ key: args.key });
      if (a.value > 1) return "big";
      const all = await Promise.all([1, 2].map((n) => mcp.kv.get({ key: n })));
      return all.length;`;
    const first = await scene.run(code, { args: { key: 1 } });
    expect(resultOf(first)).toBe(2);
    expect(resultOf(await scene.run(code, { args: { key: 5 } }))).toBe("big");
    expect(resultOf(await scene.run(code, { args: { key: 6 } }))).toBe("big");
    const journal = await readJournal(client.db, scope, first.workflowId ?? "");
    expect(journal.map(({ kind: each }) => each)).toEqual([
      "call",
      "answer",
      "decision",
      "call",
      "call",
      "answer",
      "answer",
    ]);
    const learning = await readLearning(client.db, scope, { id: first.capabilityId ?? "", version: 1 });
    expect(learning.dominantPath).toEqual(["n1", "d1"]);
    expect(learning.paths.map(({ count }) => count)).toEqual([2, 1]);
    expect(learning.decisionStats).toEqual([
      {
        nodeId: "d1",
        outcomes: { false: { count: 1, successRate: 1 }, true: { count: 2, successRate: 1 } },
      },
    ]);
  });

  test("asks before it writes, runs once approved, and asks again for another program", async () => {
    const scene = await createEngineScene(client, sandbox);
    const code = `await mcp.kv.get({ key: "a" }); return await mcp.kv.add({ key: "x" });`;
    const asked = await scene.run(code);
    expect(asked).toMatchObject({ status: "approval_required", approval: { tools: ["kv:add"] } });
    expect(scene.calls).toEqual([]);
    expect(await go(scene, asked)).toMatchObject({ status: "approval_required" });
    await decide(scene, asked, "approve");
    expect(resultOf(await go(scene, asked))).toEqual({ done: 2 });
    expect(await go(scene, asked)).toMatchObject({ status: "success" });
    expect(scene.calls).toHaveLength(2);
    expect(await scene.run(`${code}\nawait mcp.kv.get({ key: 1 })`)).toMatchObject({ status: "approval_required" });
  });

  test("a refusal ends the run", async () => {
    const scene = await createEngineScene(client, sandbox);
    const asked = await scene.run(`return await mcp.kv.drop({ key: "refused" })`);
    await decide(scene, asked, "refuse");
    expect(await go(scene, asked)).toMatchObject({ status: "error", error: { code: "approval_refused" } });
    expect(scene.calls).toEqual([]);
  });

  test("a computed name parks the run, which then resumes without repeating anything", async () => {
    const scene = await createEngineScene(client, sandbox);
    const code = `
      const first = await mcp.kv.get({ key: "before" });
      const name = ["a", "dd"].join("");
      const added = await mcp.kv[name]({ key: "dynamic" });
      return [first.value, added];`;
    const asked = await scene.run(code);
    expect(asked.status).toBe("approval_required");
    await decide(scene, asked, "approve");
    const stopped = await go(scene, asked);
    expect(stopped).toMatchObject({ status: "approval_required", approval: { tools: ["kv:add"] } });
    expect(scene.calls).toEqual([`kv:get {"key":"before"}`]);
    await decide(scene, stopped, "approve");
    expect(resultOf(await go(scene, stopped))).toEqual(["before", { done: 2 }]);
    expect(scene.calls).toEqual([`kv:get {"key":"before"}`, `kv:add {"key":"dynamic"}`]);
  });

  test("parks between layers and resumes there, loops and parallel calls included", async () => {
    const scene = await createEngineScene(client, sandbox);
    const code = `
      const out = [];
      for (const n of [1, 2]) {
        out.push(await Promise.all([mcp.kv.get({ key: n }), mcp.kv.get({ key: n * 10 })]));
      }
      return out.flat().map(({ value }) => value);`;
    let answer = await scene.run(code, { options: { perLayerValidation: true } });
    expect(answer.status).toBe("layer_complete");
    expect(scene.calls).toHaveLength(2);
    answer = await go(scene, answer);
    expect(resultOf(answer)).toEqual([1, 10, 2, 20]);
    expect(scene.calls).toHaveLength(4);
  });

  test("capabilities call capabilities; a nested park parks and resumes all of them", async () => {
    const scene = await createEngineScene(client, sandbox);
    await scene.run(`return (await mcp.kv.get({ key: args.n })).value * 2`, {
      args: { n: 1 },
      naming: { name: "util:double" },
    });
    const code = `const four = await capabilities.util.double({ n: 2 }); return four + (await capabilities.util.double({ n: 3 }));`;
    expect(resultOf(await scene.run(code))).toBe(10);
    const stopped = await scene.run(`${code} // stepwise`, { options: { perLayerValidation: true } });
    expect(stopped.status).toBe("layer_complete");
    scene.calls.length = 0;
    expect(resultOf(await go(scene, stopped))).toBe(10);
    expect(scene.calls).toEqual([`kv:get {"key":3}`]);
    const forever = { name: "util:forever", code: `return await capabilities.util.forever({})` };
    await scene.registry.save({ scope, principal: OWNER }, forever);
    expect(await scene.run(forever.code)).toMatchObject({
      status: "error",
      error: { message: expect.stringContaining("more than 3 levels deep") },
    });
  });

  test("a dry run calls nothing, and uses recorded answers", async () => {
    const scene = await createEngineScene(client, sandbox);
    const code = `const a = await mcp.kv.get({ key: "dry" }); if (a.value) await mcp.kv.drop({ key: a.value }); return a;`;
    const unknown = await scene.run(code, { options: { dryRun: true } });
    expect(unknown).toMatchObject({
      status: "dry_run",
      plan: [{ tool: "kv:get", decision: "allow", recorded: false }],
      possible: ["kv:drop"],
    });
    const asked = await scene.run(code);
    await decide(scene, asked, "approve");
    await go(scene, asked);
    scene.calls.length = 0;
    expect(await scene.run(code, { options: { dryRun: true } })).toMatchObject({
      status: "dry_run",
      plan: [
        { tool: "kv:get", recorded: true },
        { tool: "kv:drop", decision: "ask", args: { key: "dry" }, recorded: true },
      ],
      result: { value: "dry" },
    });
    expect(scene.calls).toEqual([]);
  });

  test("secrets and large values are not stored", async () => {
    const scene = await createEngineScene(client, sandbox);
    const token = `ghp_${"a1".repeat(18)}`;
    const code = `await mcp.kv.get({ key: args.apiKey }); await mcp.kv.get({ key: "y".repeat(5000) }); return "ok"`;
    const answer = await scene.run(code, { args: { apiKey: token } });
    expect(resultOf(answer)).toBe("ok");
    const { rows } = await client.execute(
      "SELECT jsonb_agg(j.payload)::text AS journal, (SELECT input::text FROM execution_run WHERE id = $1) AS input FROM run_journal j WHERE run_id = $1",
      [answer.workflowId],
    );
    const [kept] = rows as { journal: string; input: string }[];
    expect(kept?.journal).not.toContain(token);
    expect(kept?.input).not.toContain(token);
    expect(kept?.journal).toContain("$oversized");
    const hidden = await scene.run(`const k = "${token}"; return k.length`);
    expect(hidden.warnings[0]).toContain("secret");
    const { rows: sources } = await client.execute(
      "SELECT code_snippet, state FROM capability_versions v JOIN capability_records r ON r.id = v.record_id WHERE r.id = $1",
      [hidden.capabilityId],
    );
    const stored = sources as { code_snippet: string; state: string }[];
    expect(stored).toEqual([
      { code_snippet: expect.stringContaining('const k = "‹secret, 40 chars, #'), state: "draft" },
    ]);
  });
});
