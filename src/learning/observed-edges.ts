import type { StaticStructure, StructureNode } from "../analysis/structure.ts";

export interface LearnedEdge {
  /** `server:tool`, or `cap:` and the id of a capability. */
  readonly from: string;
  readonly to: string;
  readonly type: "sequence" | "provides" | "contains";
}

/** How calls were connected in a run: what followed what, and whose result went where. */
export function observedEdges(
  structure: StaticStructure,
  path: readonly string[],
  subjectOf: (node: StructureNode) => string | undefined,
): LearnedEdge[] {
  const visited = new Set(path);
  const subjects = new Map(
    structure.nodes.flatMap((node) => {
      const subject = visited.has(node.id) ? subjectOf(node) : undefined;
      return subject === undefined ? [] : [[node.id, subject] as const];
    }),
  );
  const next = new Map<string, string[]>();
  for (const { from, to, type } of structure.edges) {
    if (type === "provides" || !visited.has(from) || !visited.has(to)) continue;
    next.set(from, [...(next.get(from) ?? []), to]);
  }
  const edges: LearnedEdge[] = [];
  for (const [node, from] of subjects) {
    for (const follower of followers(node, next, subjects)) {
      const to = subjects.get(follower);
      if (to !== undefined && to !== from) edges.push({ from, to, type: "sequence" });
    }
  }
  for (const { from, to, type } of structure.edges) {
    const [provider, consumer] = [subjects.get(from), subjects.get(to)];
    if (type !== "provides" || provider === undefined || consumer === undefined || provider === consumer) continue;
    edges.push({ from: provider, to: consumer, type });
  }
  return distinct(edges);
}

/** The next calls after a node, looking through decisions, forks and loops. */
function followers(
  start: string,
  next: ReadonlyMap<string, readonly string[]>,
  calls: ReadonlyMap<string, string>,
): string[] {
  const found: string[] = [];
  const seen = new Set([start]);
  const waiting = [...(next.get(start) ?? [])];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (calls.has(node)) found.push(node);
    else waiting.push(...(next.get(node) ?? []));
  }
  return found;
}

function distinct(edges: readonly LearnedEdge[]): LearnedEdge[] {
  return [...new Map(edges.map((edge) => [`${edge.from} ${edge.to} ${edge.type}`, edge])).values()];
}
