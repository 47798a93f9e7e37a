import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/databases.ts";
import { createEngineScene, createTestSandbox, type EngineScene, scope } from "../../test/support/engine-scene.ts";
import { generateProgram } from "../../test/support/program-generator.ts";
import type { StaticStructure, StructureEdge } from "../analysis/structure.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { ProcessSandbox } from "../sandbox/sandbox.ts";
import type { JournalEntry } from "./journal.ts";
import { readJournal } from "./run-store.ts";
import { buildTrace, type Trace } from "./trace.ts";

const PROGRAMS = 150;

let client: DatabaseClient;
let sandbox: ProcessSandbox;
let scene: EngineScene;
beforeAll(async () => {
  client = await openTestDatabase("postgres");
  sandbox = createTestSandbox();
  scene = await createEngineScene(client, sandbox);
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
});

/** Calls that the structure lacks, or has for another tool. */
function strayCalls({ nodes }: StaticStructure, entries: readonly JournalEntry[]): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return entries.flatMap((entry) => {
    if (entry.kind !== "call" || entry.target.kind !== "tool") return [];
    const node = entry.node === undefined ? undefined : byId.get(entry.node);
    const fits = node?.type === "dynamic" || (node?.type === "task" && node.tool === entry.target.tool);
    return fits ? [] : [`${entry.node ?? "?"} ${entry.target.tool}`];
  });
}

/** Visited nodes that no edge reaches from other visited nodes, given the observed outcomes. */
function unexplainedVisits({ nodes, edges }: StaticStructure, { path, decisions, tasks }: Trace): string[] {
  const visited = new Set(path);
  const outcomes = new Set(decisions.map(({ nodeId, outcome }) => `${nodeId} ${outcome}`));
  // A loop without iterations, or a try without calls, leaves no entry and is passed through.
  const silent = new Set(
    nodes.filter(({ type }) => ["loop", "try", "fork", "join"].includes(type)).map(({ id }) => id),
  );
  // A function's body is placed at its first call; every other call enters it as well.
  const inFunctions = new Set<string | undefined>(
    [...tasks, ...decisions].filter(({ loop }) => /(^|\/)h\d+:/.test(loop)).map(({ nodeId }) => nodeId),
  );
  for (const { from, to, type } of edges)
    if (silent.has(from) && type !== "provides" && inFunctions.has(to)) inFunctions.add(from);
  const incoming = Map.groupBy(
    edges.filter(({ type }) => type !== "provides"),
    ({ to }) => to,
  );
  const explains = (edge: StructureEdge, seen: ReadonlySet<string>): boolean => {
    if (visited.has(edge.from)) return edge.type !== "conditional" || outcomes.has(`${edge.from} ${edge.outcome}`);
    return silent.has(edge.from) && !seen.has(edge.from) && isReached(edge.from, new Set([...seen, edge.from]));
  };
  const isReached = (id: string, seen: ReadonlySet<string>): boolean => {
    const edgesIn = incoming.get(id) ?? [];
    return edgesIn.length === 0 || inFunctions.has(id) || edgesIn.some((edge) => explains(edge, seen));
  };
  return path.filter((id) => !isReached(id, new Set([id])));
}

test(`${PROGRAMS} random programs always follow a path of their structure`, async () => {
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const code = generateProgram({ seed, tools: ["kv:get"], types: seed % 2 === 0 });
    const answer = await scene.run(code);
    const shown = `seed ${seed}:\n${code}\n${JSON.stringify(answer).slice(0, 500)}`;
    expect(["success", "error"], shown).toContain(answer.status);
    const entries = await readJournal(client.db, scope, answer.workflowId ?? "");
    const { structure } = await scene.engine.programs.fromCode({ scope, principal: "local" }, code, {});
    expect(strayCalls(structure, entries), shown).toEqual([]);
    expect(unexplainedVisits(structure, buildTrace(entries, structure)), shown).toEqual([]);
  }
});
