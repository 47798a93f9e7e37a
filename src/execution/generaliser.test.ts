import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import {
  caller,
  createEngineScene,
  createTestSandbox,
  type EngineScene,
  scope,
} from "../../test/support/engine-scene.ts";
import type { RunAnswer } from "../contract/execute.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { ProcessSandbox } from "../sandbox/sandbox.ts";
import { findCapabilityById } from "../registry/capability-store.ts";
import { findRun } from "./run-store.ts";

let sandbox: ProcessSandbox;
beforeAll(() => {
  sandbox = createTestSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** Two calls, the second with the result of the first. */
function write(key: string, result: string): string {
  return `const a = await mcp.kv.get({ key: "${key}1" }); const b = await mcp.kv.get({ key: "${key}2", of: a.value }); return ${result};`;
}

function readSets({ db }: DatabaseClient): Promise<unknown[]> {
  return db.selectFrom("capability_permission_set").selectAll().execute();
}

describe.each(engines)("a successful run on %s", (kind) => {
  let client: DatabaseClient;
  let scene: EngineScene;
  beforeAll(async () => {
    client = await openTestDatabase(kind);
    scene = await createEngineScene(client, sandbox);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  async function codeOf({ capabilityId: id = "", version = 1 }: RunAnswer): Promise<string> {
    const found = await findCapabilityById(client.db, scope, { id, version });
    return found?.source.type === "code" ? found.source.code : "";
  }

  async function countRecords(): Promise<number> {
    const rows = await client.db
      .selectFrom("capability_records")
      .select("id")
      .where("deleted_at", "is", null)
      .execute();
    return rows.length;
  }

  test("is kept with its literals as parameters", async () => {
    const first = await scene.run(`return await mcp.kv.get({ key: "a1" });`);
    expect(first).toMatchObject({
      status: "success",
      result: { value: "a1" },
      parameters: [{ name: "key", required: true }],
    });
    expect(await codeOf(first)).toBe("return await mcp.kv.get({ key: args.key });");
  });

  test("joins the capability that does the same, whatever its words", async () => {
    const first = await scene.run(`return await mcp.kv.get({ key: "a1" });`);
    const before = await countRecords();
    for (const code of [
      `return await mcp.kv.get({ key: "b2" });`,
      `const key = 'c3';\nconst found = await mcp.kv.get({ key }); console.log(found);\nreturn found;`,
      `const { value } = await mcp.kv["get"]({ "key": "d4" }); return { value };`,
    ]) {
      const again = await scene.run(code);
      expect(again).toMatchObject({ status: "success", capabilityId: first.capabilityId });
    }
    expect(await countRecords()).toBe(before);
  });

  test("that returns more becomes the next version, once it does what the earlier runs did", async () => {
    const part = await scene.run(write("w", "b.value"));
    const args = { key: "v1", get_key: "v2" };
    const call = { kind: "capability", capability: part.capabilityName ?? "", args } as const;
    expect(await scene.run("", call)).toMatchObject({ version: 1, result: "v2" });
    const whole = await scene.run(write("x", "{ a, b }"));
    expect(whole).toMatchObject({ status: "success", capabilityId: part.capabilityId, version: 2 });
    expect(await scene.run("", call)).toMatchObject({ version: 2, result: { a: { value: "v1" } } });
    const again = await scene.run(write("y", "a.value"));
    expect(again).toMatchObject({ status: "success", capabilityId: part.capabilityId, version: 2 });
  });

  test("that returns something else is a variant", async () => {
    const first = `const a = await mcp.kv.get({ key: "m1" }); const b = await mcp.kv.get({ key: "m2", of: 1 });`;
    const one = await scene.run(`${first} return [a.value, 1];`);
    const other = await scene.run(`${first} return [b.value, 1];`);
    expect(other.status).toBe("success");
    expect(other.capabilityId).not.toBe(one.capabilityId);
  });

  test("over several items becomes the next version of the program for one", async () => {
    const one = await scene.run(`await mcp.kv.get({ key: "s1", of: "t1" }); return "done";`);
    const loop = `for (const key of ["s2", "s3"]) await mcp.kv.get({ key, of: "t2" }); return "done";`;
    expect(await scene.run(loop)).toMatchObject({ capabilityId: one.capabilityId, version: 2 });
    const unrolled = `await mcp.kv.get({ key: "s4", of: "t3" }); await mcp.kv.get({ key: "s5", of: "t3" }); return "done";`;
    expect(await scene.run(unrolled)).toMatchObject({ capabilityId: one.capabilityId, version: 2 });
  });

  test("stays a capability of its own where the stored program does something else", async () => {
    const first = await scene.run(`const a = await mcp.kv.get({ key: "x1" }); return { first: a.value };`);
    // the same calls, another computation
    const other = await scene.run(`const a = await mcp.kv.get({ key: "x1" }); return a.value + "!";`);
    expect(other).toMatchObject({ status: "success", result: "x1!" });
    expect(other.capabilityId).not.toBe(first.capabilityId);
  });

  test("counts for the capability it joined, and leaves its text with the run", async () => {
    const joined = await scene.run(`/* mine */ return await mcp.kv.get({ key: "counted9" });`);
    const run = await findRun(client.db, scope, joined.workflowId ?? "");
    expect(run?.recordId).toBe(joined.capabilityId);
    expect(run?.options.text).toContain("counted9");
    expect(run?.args).toEqual({ key: "counted9" });
  });

  test("in other words leaves what the capability was allowed as it is", async () => {
    const before = await readSets(client);
    expect(await scene.run(`/* other */ return await mcp.kv.get({ key: "allowed1" });`)).toMatchObject({
      status: "success",
    });
    expect(await readSets(client)).toEqual(before);
  });

  test("with a password is kept without it", async () => {
    const secret = "hunter2 and more";
    const answer = await scene.run(`return (await mcp.kv.get({ key: "p1", password: "${secret}" })).value;`);
    expect(answer).toMatchObject({ status: "success", warnings: [] });
    const found = await findCapabilityById(client.db, scope, { id: answer.capabilityId ?? "" });
    expect(found?.source).toMatchObject({ code: expect.stringContaining("password: args.password") as string });
    expect(JSON.stringify(found)).not.toContain(secret);
    const versions = await client.db.selectFrom("capability_versions").selectAll().execute();
    expect(JSON.stringify(versions).includes(secret)).toBe(false);
  });

  test("of a program that is named keeps its values as defaults where it only reads", async () => {
    const named = await scene.run(`return await mcp.kv.get({ key: "own7" });`, { naming: { name: "kv:own" } });
    expect(named).toMatchObject({ capabilityName: "kv:own", parameters: [{ name: "key", required: false }] });
    expect(await codeOf(named)).toBe(`return await mcp.kv.get({ key: args.key ?? "own7" });`);
    expect(await scene.run("", { kind: "capability", capability: "kv:own" })).toMatchObject({
      result: { value: "own7" },
    });
  });

  test("that would have to ask is offered the capability that need not", async () => {
    const first = await scene.run(`return await mcp.kv.add({ key: "r1" });`);
    if (first.status !== "approval_required") throw new Error(JSON.stringify(first));
    const decision = { decision: "approve", by: "bob", via: "cli" } as const;
    const context = { caller, signal: new AbortController().signal };
    await scene.permissions.decideApproval(scope, first.approval.id, decision);
    const learned = await scene.engine.continueRun(scope, first.workflowId ?? "", context);
    expect(learned.status).toBe("success");

    const call = { kind: "capability", capability: learned.capabilityName ?? "", args: { key: "r2" } } as const;
    const asked = await scene.run("", call);
    if (asked.status !== "approval_required") throw new Error(JSON.stringify(asked));
    expect(asked.ready).toBeUndefined();
    await scene.permissions.decideApproval(scope, asked.approval.id, { ...decision, remember: true });

    const other = await scene.run(`const done = await mcp.kv.add({ key: 'r3' }); return done;`);
    expect(other).toMatchObject({
      status: "approval_required",
      ready: { capability: learned.capabilityName, args: { key: "r3" } },
    });
    expect(await scene.run("", { ...call, args: { key: "r3" } })).toMatchObject({ status: "success" });
  });
});
