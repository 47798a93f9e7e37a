import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RawBuilder, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import { createEngineScene, createTestSandbox, type EngineScene, scope } from "../../test/support/engine-scene.ts";
import { makeFolder } from "../../test/support/folder.ts";
import { readUsage } from "../registry/capability-store.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { FinishedRun } from "./finish-store.ts";
import type { JournalEntry } from "./journal.ts";
import { describeNote } from "./note-store.ts";
import { createDirectKeeper, openRunKeeper } from "./run-keeper.ts";
import { findRun, listRuns, parkRun, readJournal, type RunRecord } from "./run-store.ts";

/** Records the statements that end runs; drops them if `lose` is set. */
function watchFinishes(
  client: DatabaseClient,
): DatabaseClient & { readonly seen: (readonly unknown[])[]; lose: boolean } {
  const watched = {
    ...client,
    seen: [] as (readonly unknown[])[],
    lose: false,
    executePrepared: async (name: string, text: string, values: readonly unknown[]) => {
      watched.seen.push(values);
      return watched.lose ? { rows: [] } : client.executePrepared(name, text, values);
    },
  };
  return watched;
}

/** The ends as lines of the log. */
function linesOf({ seen }: { readonly seen: readonly (readonly unknown[])[] }): string[] {
  const ends = seen.flatMap(([given]) => JSON.parse(String(given)) as { readonly id: string }[]);
  return ends.map((end) => `end ${end.id} ${JSON.stringify(end)}`);
}

/** Opens a keeper on a log with these lines; returns its logged errors. */
async function startWith(client: DatabaseClient, path: string, lines: readonly string[]): Promise<string[]> {
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  const errors: string[] = [];
  const log = { error: (_fields: unknown, message = "") => void errors.push(message) };
  await openRunKeeper({ client, home: dirname(path), log })[Symbol.asyncDispose]();
  return errors;
}

test("records of a dead process are applied at the next start, and only once", async () => {
  await using sandbox = createTestSandbox();
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  const watched = watchFinishes(client);
  const scene = await createEngineScene(watched, sandbox);
  const code = "return args.n";
  const { capabilityId = "" } = await scene.run(code, { args: { n: 1 } });
  watched.lose = true;
  await scene.run(code, { args: { n: "a line \u2028 and a paragraph \u2029" } });
  expect((await readUsage(client.db, scope, capabilityId)).count).toBe(1);

  const path = join(folder.path, "runs.log");
  const lines = linesOf(watched);
  const errors = await startWith(client, path, ["not JSON", ...lines, ...lines]);
  expect(errors).toEqual(["a record in the run log cannot be read"]);
  expect((await readUsage(client.db, scope, capabilityId)).count).toBe(2);
  expect(readFileSync(path, "utf8")).toBe("");
});

const silent = { error: () => undefined };

/** Runs programs that fail and succeed, decide and call each other, several at a time. */
async function runMixture(scene: EngineScene): Promise<void> {
  const run: EngineScene["run"] = (code, more) => scene.run(code, more);
  const look = `if (args.n > 2) await mcp.kv.get({ key: "a" }); return (await mcp.kv.get({ key: args.key })).value`;
  const call = "return await capabilities.kv.look({ n: 3, key: args.key })";
  await run(look, { args: { n: 1, key: "x" }, naming: { name: "kv:look" } });
  await run(call, { args: { key: "x" } });
  for (const key of ["x", "broken", "y"]) {
    await Promise.all([1, 2, 3, 4].map((n) => run(look, { args: { n, key }, intent: `look up ${n % 2}` })));
    await Promise.all([1, 2].map(() => run(call, { args: { key }, options: { contextTags: ["shop"] } })));
  }
}

const named = (column: string): RawBuilder<unknown> => sql.raw(`regexp_replace(${column}, '^cap:.*', 'cap')`);

/** Reads every table that runs add to, without ids and times. */
async function readCounters({ db }: DatabaseClient): Promise<unknown[]> {
  const all = [
    sql`SELECT usage_count, success_count FROM capability_stat`,
    sql`SELECT path, count, success_count FROM capability_path`,
    sql`SELECT node_id, outcome, count, success_count FROM capability_decision`,
    sql`SELECT ${named("from_id")} AS f, ${named("to_id")} AS t, edge_type, observed_count FROM tool_edge`,
    sql`SELECT ${named("subject")} AS s, tag, uses, successes FROM discovery_tally`,
    sql`SELECT ${named("subject")} AS s, intent, uses FROM discovery_intent`,
    sql`SELECT from_version, to_version, observed_count FROM capability_dependency`,
    sql`SELECT state, intent, version, input, error->>'code' AS error FROM execution_run`,
    sql`SELECT success, executed_path, decisions FROM execution_trace`,
    sql`SELECT seq, jsonb_array_length(payload->'entries') AS entries FROM run_journal`,
    sql`SELECT task_id, tool_id, status, convert_from(result, 'UTF8') AS result FROM task_results`,
  ];
  const tables = await Promise.all(all.map((query) => query.execute(db)));
  return tables.map(({ rows }) => rows.map((row) => JSON.stringify(row)).toSorted());
}

test("ends applied in one batch add up as if applied one by one", async () => {
  await using sandbox = createTestSandbox();
  await using one = await openTestDatabase("pglite");
  await using other = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  const [singly, together] = [watchFinishes(one), watchFinishes(other)];
  await runMixture(await createEngineScene(singly, sandbox, createDirectKeeper({ client: singly, log: silent })));
  await using keeper = openRunKeeper({ client: together, home: folder.path, log: silent });
  await runMixture(await createEngineScene(together, sandbox, keeper));
  expect(await readCounters(other)).toEqual(await readCounters(one));
  expect(together.seen.length).toBeLessThan(singly.seen.length / 2);
});

test("queries see queued records, in the order in which they were accepted", async () => {
  await using sandbox = createTestSandbox();
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  await using keeper = openRunKeeper({ client, home: folder.path, log: silent });
  const scene = await createEngineScene(client, sandbox, keeper);
  const ns = [1, 2, 3, 4, 5];
  for (const n of ns) await scene.run("return args.n", { args: { n } });
  const found = await listRuns(client.db, scope, { limit: 10 });
  expect(found.map(({ args }) => args["n"])).toEqual(ns.toReversed());
});

test("an end that the database rejects fails no others, and is not retried forever", async () => {
  await using sandbox = createTestSandbox();
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  const watched = watchFinishes(client);
  const scene = await createEngineScene(watched, sandbox);
  const { capabilityId = "" } = await scene.run("return args.n", { args: { n: 1 } });
  watched.lose = true;
  for (const n of [2, 3, 4]) await scene.run("return args.n", { args: { n } });
  const [, second = "", third = "", fourth = ""] = linesOf(watched);
  const path = join(folder.path, "runs.log");
  const refused = third.replaceAll(capabilityId, "00000000-0000-7000-8000-000000000000");
  const errors = await startWith(client, path, [second, refused, fourth]);
  expect(errors).toEqual(["a run was stored without its details"]);
  expect((await readUsage(client.db, scope, capabilityId)).count).toBe(3);
  const [, id = ""] = third.split(" ");
  expect(await findRun(client.db, scope, id)).toMatchObject({ state: "succeeded", result: 3 });
  expect(readFileSync(path, "utf8")).toBe("");
});

const run: RunRecord = {
  id: "01900000-0000-7000-8000-000000000001",
  scope,
  kind: "code",
  recordId: "01900000-0000-7000-8000-000000000002",
  version: 1,
  sourceHash: "h",
  intent: "note things",
  args: { n: 1 },
  seed: 7,
  startedMs: 1_790_000_000_000,
  principal: "local",
  client: "test",
  parent: undefined,
  options: {},
  approvedTools: ["kv:add"],
};
const lease = { owner: "somebody", seconds: 15 };
const decisions = (...seqs: number[]): JournalEntry[] =>
  seqs.map((seq) => ({ kind: "decision", seq, node: `d${seq}`, loop: "", outcome: "tru\u0000" }));

const cancelled: FinishedRun = {
  run,
  state: "cancelled",
  result: undefined,
  error: undefined,
  logs: [],
  trace: { path: [], decisions: [], tasks: [] },
  durationMs: 1,
  entries: [],
  edges: [],
  calledCapabilities: [],
  isNew: false,
  activate: false,
  resultSeconds: 60,
  hasOwnText: false,
  counts: false,
};

test.each(engines)("a long end that a database on %s does not take fails the run", async (engine) => {
  await using client = await openTestDatabase(engine);
  await using folder = await makeFolder();
  const small = {
    ...client,
    executePrepared: (name: string, text: string, values: readonly unknown[]) =>
      String(values[0]).length > 1_000_000
        ? Promise.reject(Object.assign(new Error("out of memory"), { code: "53200" }))
        : client.executePrepared(name, text, values),
  };
  await using keeper = openRunKeeper({ client: small, home: folder.path, log: silent });
  await keeper.note(run, decisions(0), lease);
  const finished = { ...cancelled, state: "succeeded", result: "x".repeat(1_100_000), entries: decisions(0) } as const;
  await expect(keeper.finish(finished)).rejects.toMatchObject({ code: "run_not_stored" });
  const stored = { state: "failed", result: undefined, error: { code: "run_not_stored" } };
  expect(await findRun(client.db, scope, run.id)).toMatchObject(stored);
  expect(await readJournal(client.db, scope, run.id)).toEqual([]);
});

describe.each(engines)("notes on %s", (engine) => {
  test("queries see a running run with all its entries", async () => {
    await using client = await openTestDatabase(engine);
    await using folder = await makeFolder();
    await using keeper = openRunKeeper({ client, home: folder.path, log: silent });
    await keeper.note(run, decisions(0, 1), lease);
    expect(await findRun(client.db, scope, run.id)).toMatchObject({ ...run, state: "running", owner: "somebody" });
    await keeper.note(run, decisions(2));
    await keeper.note(run, decisions(3, 4));
    expect(await readJournal(client.db, scope, run.id)).toEqual(decisions(0, 1, 2, 3, 4));
  });
});

test("notes applied again after a crash change nothing in a parked or finished run", async () => {
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  const path = join(folder.path, "runs.log");
  const lines = [describeNote(run, decisions(0, 1), lease), describeNote(run, decisions(2))].map(
    (note) => `note ${run.id} ${note}`,
  );
  const comeAgain = async (): Promise<unknown> => {
    expect(await startWith(client, path, lines)).toEqual([]);
    const found = await findRun(client.db, scope, run.id);
    return { state: found?.state, owner: found?.owner, entries: await readJournal(client.db, scope, run.id) };
  };
  const noted = { state: "running", owner: "somebody", entries: decisions(0, 1, 2) };
  expect(await comeAgain()).toEqual(noted);
  expect(await comeAgain()).toEqual(noted);
  await parkRun(client.db, run, { entries: decisions(3) });
  const parked = { state: "parked", owner: undefined, entries: decisions(0, 1, 2, 3) };
  expect(await comeAgain()).toEqual(parked);
  await sql`UPDATE execution_run SET state = 'failed', finished_at = now() WHERE id = ${run.id}`.execute(client.db);
  await sql`DELETE FROM run_journal WHERE run_id = ${run.id} AND seq > 0`.execute(client.db);
  expect(await comeAgain()).toEqual({ state: "failed", owner: undefined, entries: decisions(0, 1) });
});

test("notes of a run that has ended by then are not applied", async () => {
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  const watched = watchFinishes(client);
  await using keeper = openRunKeeper({ client: watched, home: folder.path, log: silent });
  await keeper.note(run, decisions(0), lease);
  await keeper.note(run, decisions(1));
  await keeper.finish({ ...cancelled, entries: decisions(0, 1) });
  expect(await findRun(client.db, scope, run.id)).toMatchObject({ state: "cancelled" });
  expect(await readJournal(client.db, scope, run.id)).toEqual(decisions(0, 1));
  expect(watched.seen).toHaveLength(1);
});

const clean = (text: string): string => text.replaceAll("hunter2-and-more", "‹secret›");

test("the log has no known secret, in whichever field it came", async () => {
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  await using keeper = openRunKeeper({ client, home: folder.path, log: silent, clean });
  await keeper.note({ ...run, client: "agent hunter2-and-more" }, decisions(0), lease);
  const text = readFileSync(join(folder.path, "runs.log"), "utf8");
  expect(text).toContain("agent ‹secret›");
  expect(text).not.toContain("hunter2");
});

test("the log is truncated now and then under constant load", async () => {
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  await using keeper = openRunKeeper({ client, home: folder.path, log: silent });
  const path = join(folder.path, "runs.log");
  const outcome = "x".repeat(50_000);
  let largest = 0;
  const noteMany = async (worker: number): Promise<void> => {
    const own = { ...run, id: run.id.replace(/.$/, String(worker)) };
    for (let seq = 0; seq < 30; seq += 1) {
      await keeper.note(own, [{ kind: "decision", seq, node: "d1", loop: "", outcome }], seq === 0 ? lease : undefined);
      largest = Math.max(largest, statSync(path).size);
    }
  };
  await Promise.all([1, 2, 3, 4].map(noteMany));
  expect(largest).toBeGreaterThan(1_000_000);
  expect(largest).toBeLessThan(2_000_000); // six million were written
  for (const worker of [1, 2, 3, 4]) {
    const id = run.id.replace(/.$/, String(worker));
    expect(await readJournal(client.db, scope, id)).toHaveLength(30);
  }
});
