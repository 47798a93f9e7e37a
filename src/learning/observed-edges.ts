import type { StaticStructure, StructureNode } from "../analysis/structure.ts";
import type { DagStructure } from "../registry/capability.ts";
import type { GraphEdge } from "./edge-store.ts";

/** Edges between the calls of a run: succession and data flow. */
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

/** Finds the next calls after a node, looking through decisions, forks and loops. */
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

/** Edges of a program that has not run, over all of its paths. */
export function structureEdges(
  structure: StaticStructure,
  subjectOf: (node: StructureNode) => string | undefined,
): GraphEdge[] {
  const everything = structure.nodes.map(({ id }) => id);
  return observedEdges(structure, everything, subjectOf);
}

/**
 * Connects tools by the `depends_on` of a DAG. An author's statement that one task needs another is a dependency,
 * whereas the order in which two calls happened is only a sequence.
 * @param ran ids of the tasks that ran; left out: all of them
 */
export function declaredEdges({ tasks }: DagStructure, ran?: ReadonlySet<string>): GraphEdge[] {
  const tools = new Map(tasks.flatMap(({ id, tool }) => (ran?.has(id) === false ? [] : [[id, tool] as const])));
  const declared = tasks.flatMap((task) =>
    (task.dependsOn ?? []).flatMap((id): GraphEdge[] => {
      const [from, to] = [tools.get(id), tools.get(task.id)];
      return from === undefined || to === undefined || from === to ? [] : [{ from, to, type: "dependency" }];
    }),
  );
  return distinct(declared);
}
