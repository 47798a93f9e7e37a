import type { StaticStructure, StructureNode } from "../analysis/structure.ts";
import type { GraphEdge } from "./edge-store.ts";

/** How calls were connected in a run: what followed what, and whose result went where. */
export function observedEdges(
  structure: StaticStructure,
  path: readonly string[],
  subjectOf: (node: StructureNode) => string | undefined,
): GraphEdge[] {
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
): GraphEdge[] {
  const next = Map.groupBy(
    edges.filter(({ from, to, type }) => type !== "provides" && visited.has(from) && visited.has(to)),
    ({ from }) => from,
  );
  const following = new Map([...next].map(([from, group]) => [from, group.map(({ to }) => to)]));
  return [...subjects].flatMap(([node, from]) =>
    followers(node, following, subjects).flatMap((follower): GraphEdge[] => {
      const to = subjects.get(follower);
      return to === undefined || to === from ? [] : [{ from, to, type: "sequence" }];
    }),
  );
}

function provisions({ edges }: StaticStructure, subjects: ReadonlyMap<string, string>): GraphEdge[] {
  return edges.flatMap((edge): GraphEdge[] => {
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

function distinct(edges: readonly GraphEdge[]): GraphEdge[] {
  return [...new Map(edges.map((edge) => [`${edge.from} ${edge.to} ${edge.type}`, edge])).values()];
}

/** The same of a program that has not run: everything its text connects, whichever way it will go. */
export function structureEdges(
  structure: StaticStructure,
  subjectOf: (node: StructureNode) => string | undefined,
): GraphEdge[] {
  const everything = structure.nodes.map(({ id }) => id);
  return observedEdges(structure, everything, subjectOf);
}
