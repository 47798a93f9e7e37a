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
  return distinct([...sequences(structure, visited, subjects), ...provisions(structure, subjects)]);
}

function sequences(
  { edges }: StaticStructure,
  visited: ReadonlySet<string>,
  subjects: ReadonlyMap<string, string>,
): LearnedEdge[] {
  const next = Map.groupBy(
    edges.filter(({ from, to, type }) => type !== "provides" && visited.has(from) && visited.has(to)),
    ({ from }) => from,
  );
  const following = new Map([...next].map(([from, group]) => [from, group.map(({ to }) => to)]));
  return [...subjects].flatMap(([node, from]) =>
    followers(node, following, subjects).flatMap((follower): LearnedEdge[] => {
      const to = subjects.get(follower);
      return to === undefined || to === from ? [] : [{ from, to, type: "sequence" }];
    }),
  );
}

function provisions({ edges }: StaticStructure, subjects: ReadonlyMap<string, string>): LearnedEdge[] {
  return edges.flatMap((edge): LearnedEdge[] => {
    const [from, to] = [subjects.get(edge.from), subjects.get(edge.to)];
    const isKnown = edge.type === "provides" && from !== undefined && to !== undefined && from !== to;
    return isKnown ? [{ from, to, type: "provides" }] : [];
  });
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
