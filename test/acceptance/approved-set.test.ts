/** No call outside the approved set ever reaches a server, for any program. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { approve } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml } from "../support/pml.ts";
import {
  connectReader,
  runSneakyPrograms,
  saveSneakyCapabilities,
  sneakySettings,
  writtenIn,
} from "../support/sneaky-runs.ts";

let scene: CountingScene;

beforeAll(async () => {
  scene = await openCountingScene(sneakySettings);
});

afterAll(() => scene[Symbol.asyncDispose]());

const PROGRAMS = 40;

test("[E10-M5] programs with computed names, aliases, prototypes and nested capabilities reach only what was approved", async () => {
  await using person = await connectReader(scene);
  const { client } = person;
  await saveSneakyCapabilities(client);
  const run = { programs: PROGRAMS, seed: 20_261_115, tools: ["add", "put", "drop"] };
  expect(await runSneakyPrograms(scene, client, run)).toMatchObject({ ended: PROGRAMS, problems: [] });
  expect(writtenIn(scene)).toEqual([]);
});

test("the same programs do reach what they may", async () => {
  const before = scene.happened().length;
  await using person = await connectReader(scene);
  const run = { programs: 24, seed: 7, tools: ["read"] };
  const { succeeded, problems } = await runSneakyPrograms(scene, person.client, run);
  expect(problems).toEqual([]);
  expect(succeeded).toBeGreaterThan(run.programs / 2);
  expect(scene.happened().length - before).toBeGreaterThanOrEqual(succeeded);
});

test("an approval lets go exactly the program, the arguments and the definitions it was given for, once", async () => {
  const home = scene.home.path;
  const code = `return await mcp.counting.add({ key: args.key });`;
  const args = { key: "approved" };
  let workflow = "";
  {
    await using connected = await connectClient(home);
    const { client } = connected;
    const asked = await execute(client, { code, args });
    await approve(home, asked.approval?.id);
    for (const other of [
      { code: code.replace("add", "put"), args },
      { code: code.replace("add", "drop"), args },
      { code: `${code.replace("return ", "")} return await mcp.counting.add({ key: "second" });`, args },
      { code, args: { key: "other" } },
      { code: code.replace("args.key", "args.key + 1"), args },
      { code: `return await mcp.counting["ad" + "d".slice(0, args.key.length)]({ key: args.key });`, args },
    ]) {
      expect((await execute(client, other)).status).not.toBe("success");
    }
    expect(writtenIn(scene)).toEqual([]);
    const done = await execute(client, { continue_workflow: { workflow_id: asked.workflowId } });
    expect(done.status).toBe("success");
    expect((await execute(client, { code, args })).status).toBe("approval_required");
    expect(writtenIn(scene)).toEqual(["add approved"]);
    const second = await execute(client, { code, args: { key: "changed" } });
    workflow = second.workflowId;
    await approve(home, second.approval?.id);
  }
  redefineCounting(home);
  await scene.restart();
  await scene.home.ready("counting");
  await using again = await connectClient(home);
  const resumed = await execute(again.client, { continue_workflow: { workflow_id: workflow } });
  expect(resumed.status, JSON.stringify(resumed)).toBe("approval_required");
  expect(writtenIn(scene)).toEqual(["add approved"]);
});

/** The server changes the descriptions of its tools with each start. */
function redefineCounting(home: string): void {
  const file = join(home, "pml.json");
  const config = JSON.parse(readFileSync(file, "utf8")) as { mcpServers: { counting: { args: string[] } } };
  config.mcpServers.counting.args.push("--words=and more");
  writeFileSync(file, JSON.stringify(config));
}

/** A person who agrees to everything. */
const agree = async () => ({ action: "accept" as const, content: { answer: "once" } });

test("[X-04] each version shows the tools it may call, their effects and who allowed them, after a restart", async () => {
  const home = scene.home.path;
  const name = "util:tally";
  {
    await using person = await connectClient(home, { answer: agree });
    const { client } = person;
    const [args, read] = [{ key: "set" }, "const { count } = await mcp.counting.read({ key: args.key });"];
    await execute(client, { name, args, code: `${read} await mcp.counting.add({ key: args.key }); return count;` });
    await execute(client, { name, args, code: `${read} return count + 1;`, on_conflict: "version" });
    await execute(client, { name: "util:outer", args, code: `return await capabilities.util.tally(args);` });
    await execute(client, { name: "util:nothing", code: `return 1;` });
  }
  await scene.restart();
  const setOf = async (record: string) =>
    (await runJson<{ permission_set: unknown }>(["whois", record], { home })).permission_set;
  const reads = { tool: "counting:read", effect: "read", allowed_by: "rule" };
  const adds = { tool: "counting:add", effect: "write", allowed_by: "person" };
  expect(await setOf(`${name}@v1`)).toEqual([adds, reads]);
  expect(await setOf(name)).toEqual([reads]);
  expect(await setOf("util:outer")).toEqual([reads]);
  expect(await setOf("util:nothing")).toEqual([]);
  const { stdout } = await runPml(["show", `${name}@v1`], { home });
  expect(stdout).toMatch(/may call\s+counting:add \(write, allowed by a person\), counting:read/);
  await runJson(["fork", `${name}@v1`, "util:copy"], { home });
  expect(await setOf("util:copy")).toEqual([]);
});
