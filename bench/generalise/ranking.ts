import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { v7 as newId } from "uuid";
import type { SearchDocument } from "../../src/discovery/search.ts";
import { bumpScope } from "../../src/registry/scope-version-store.ts";
import type { Scope } from "../../src/registry/scope.ts";
import type { DiscoveryScene } from "../discovery/scene.ts";
import type { BenchSession } from "../support/benchmark.ts";
import { percentile } from "../support/statistics.ts";
import { behaviourOf, type GoldTask } from "./gold-task.ts";

export const RANKING = "ranking";

/** Reads the tools of a τ world with their descriptions. */
export function readTauTools(checkout: string, world: string): SearchDocument[] {
  const folder = join(checkout, "tau_bench", "envs", world, "tools");
  return readdirSync(folder).flatMap((file) => {
    const text = file.endsWith(".py") ? readFileSync(join(folder, file), "utf8") : "";
    const name = /"name": "(\w+)"/.exec(text)?.[1];
    if (name === undefined) return [];
    const description = /"description": "([^"]+)"/.exec(text)?.[1] ?? "";
    return [{ id: `world:${name}`, kind: "tool", server: "world", name, description, parameters: [], tags: [] }];
  });
}

const accept = ({ kind }: SearchDocument): boolean => kind === "capability";

/** Asks for each task in turn, then learns it: how often does the capability come up that did it before? */
export async function measureRanking(
  scene: DiscoveryScene,
  { name, tasks, tools }: { name: string; tasks: readonly GoldTask[]; tools: readonly SearchDocument[] },
  session: BenchSession,
): Promise<void> {
  const scope: Scope = { org: "bench", project: name };
  const viewer = { scope, principal: undefined };
  await using discovery = scene.createDiscovery(tools, undefined);
  const known = new Map<string, string>();
  const counts = { again: 0, first: 0, three: 0 };
  const times: number[] = [];
  for (const task of tasks) {
    session.signal.throwIfAborted();
    const behaviour = behaviourOf(task.calls);
    const started = performance.now();
    const { ranked } = await discovery.search(viewer, task.intent, { accept, limit: 30 });
    times.push(performance.now() - started);
    const id = known.get(behaviour);
    if (id !== undefined) {
      const place = ranked.findIndex(({ document }) => document.id === id);
      counts.again += 1;
      counts.first += place === 0 ? 1 : 0;
      counts.three += place >= 0 && place < 3 ? 1 : 0;
    }
    known.set(behaviour, await learnTask(scene, scope, { task, id }));
  }
  const say = (what: string, value: number): void =>
    session.record({ row: `${name}: ${what}`, unit: "%", column: RANKING, value: 100 * value });
  say("known behaviour first", counts.first / counts.again);
  say("known behaviour among three", counts.three / counts.again);
  session.record({ row: `${name}: search, p95`, unit: "ms", column: RANKING, value: percentile(times, 0.95) });
}

async function learnTask(
  { client: { db } }: DiscoveryScene,
  scope: Scope,
  { task, id: known }: { task: GoldTask; id: string | undefined },
): Promise<string> {
  const id = known ?? (await storeCapability({ client: { db } }, scope, task));
  const intent_hash = createHash("md5").update(task.intent).digest("hex");
  await db
    .insertInto("discovery_intent")
    .values({ ...scope, subject: id, intent: task.intent, intent_hash })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return id;
}

async function storeCapability(
  { client: { db } }: { client: Pick<DiscoveryScene["client"], "db"> },
  scope: Scope,
  { intent, calls }: GoldTask,
): Promise<string> {
  const id = newId();
  const { org, project } = scope;
  const folded = behaviourOf(calls).split(" ").filter(Boolean);
  const nodes = folded.map((step, at) => {
    const [, tool = "", names = ""] = /^(.*)\((.*)\)$/.exec(step) ?? [];
    const args = Object.fromEntries(names.split(",").map((name) => [name, { type: "parameter", parameterName: name }]));
    return { id: `n${at + 1}`, type: "task", tool: `world:${tool}`, arguments: names === "" ? {} : args };
  });
  await db.transaction().execute(async (tx) => {
    const name = `unnamed_${id.slice(-8)}`;
    const record = { org, project, id, fqdn: `${org}.${id}`, display_name: name, namespace: "util", action: name };
    await tx
      .insertInto("capability_records")
      .values({
        ...record,
        hash: id.slice(-4),
        state: "active",
        description: intent.slice(0, 200),
        tags: [],
        visibility: "project",
      })
      .execute();
    await tx
      .insertInto("capability_versions")
      .values({
        org,
        record_id: id,
        version: 1,
        source_kind: "code",
        code_snippet: "",
        source_hash: id,
        tools_used: [...new Set(nodes.map(({ tool }) => tool))],
        structure: JSON.stringify({ nodes, edges: [] }),
      })
      .execute();
    await bumpScope(tx, scope);
  });
  return `cap:${id}`;
}
