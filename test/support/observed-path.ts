/** Runs generated programs and checks that each follows a path of its structure. */
import type { StaticStructure, StructureEdge } from "../../src/analysis/structure.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import type { JournalEntry } from "../../src/execution/journal.ts";
import { readJournal } from "../../src/execution/run-store.ts";
import { buildTrace, type Trace } from "../../src/execution/trace.ts";
import { createEngineScene, createTestSandbox, scope } from "./engine-scene.ts";
import { generateProgram } from "./program-generator.ts";

/** Runs programs of consecutive seeds until one leaves its structure; returns a description of that one. */
export async function findStrayPath(
  client: DatabaseClient,
  { seed: first, programs }: { readonly seed: number; readonly programs: number },
): Promise<string | undefined> {
  await using sandbox = createTestSandbox();
  const scene = await createEngineScene(client, sandbox);
  for (let seed = first; seed < first + programs; seed += 1) {
    const code = generateProgram({ seed, tools: ["kv:get"], types: seed % 2 === 0 });
    const answer = await scene.run(code);
    const entries = await readJournal(client.db, scope, answer.workflowId ?? "");
    const { structure } = await scene.engine.programs.fromCode({ scope, principal: "local" }, code, {});
    const strays = [
      ...strayCalls(structure, entries),
      ...unexplainedVisits(structure, buildTrace(entries, structure), code),
      ...(["success", "error"].includes(answer.status) ? [] : [`status ${answer.status}`]),
    ];
    if (strays.length > 0)
      return `program ${seed}: ${strays.join(", ")}\n${code}\n${JSON.stringify(answer).slice(0, 500)}`;
  }
  return undefined;
}

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

const SILENT: ReadonlySet<string> = new Set(["loop", "try", "fork", "join"]);

/** Visited nodes that no edge reaches from other visited nodes, given the observed outcomes. */
function unexplainedVisits(
  { nodes, edges }: StaticStructure,
  { path, decisions, tasks }: Trace,
  code: string,
): string[] {
  const visited = new Set(path);
  const outcomes = new Set(decisions.map(({ nodeId, outcome }) => `${nodeId} ${outcome}`));
  // A loop without iterations, or a try without calls, leaves no entry and is passed through. So does a call that
  // nobody waits for: the program may end before it goes out.
  const isAwaited = (start: number): boolean => /\bawait\s*$/.test(code.slice(0, start));
  const silent = new Set(
    nodes
      .filter(
        ({ id, type, range }) => SILENT.has(type) || (type === "task" && !visited.has(id) && !isAwaited(range.start)),
      )
      .map(({ id }) => id),
  );
  // A function's body is placed at its first call; every other call enters it as well.
  const inFunctions = new Set<string | undefined>(
    [...tasks, ...decisions].filter(({ loop }) => /(^|\/)h\d+:/.test(loop)).map(({ nodeId }) => nodeId),
  );
  for (let size = -1; size < inFunctions.size;) {
    size = inFunctions.size;
    for (const { from, to, type } of edges)
      if (silent.has(from) && type !== "provides" && inFunctions.has(to)) inFunctions.add(from);
  }
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
