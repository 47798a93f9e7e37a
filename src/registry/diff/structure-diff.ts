import type { StaticStructure, StructureEdge, StructureNode } from "../../analysis/structure.ts";
import { contentHash } from "../../base/content-hash.ts";
import { diffSequences } from "./sequence-diff.ts";

export interface SetDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface StructureDiff {
  readonly nodes: SetDiff;
  /** Calls present on both sides with different arguments. */
  readonly changed: readonly string[];
  readonly edges: SetDiff;
}

/** Compares two structures. Matches nodes by type and subject, since ids only number their positions. */
export function diffStructures(before: StaticStructure, after: StaticStructure): StructureDiff {
  const steps = diffSequences(before.nodes.map(keyOf), after.nodes.map(keyOf));
  const pairs = steps.flatMap((step) => {
    const [old, current] = step.kind === "kept" ? [before.nodes[step.before], after.nodes[step.after]] : [];
    return old === undefined || current === undefined ? [] : [{ old, current }];
  });
  const names = new Map(pairs.map(({ old, current }) => [old.id, current.id]));
  return {
    nodes: {
      added: steps.flatMap((step) => (step.kind === "added" ? labelAt(after, step.after) : [])),
      removed: steps.flatMap((step) => (step.kind === "removed" ? labelAt(before, step.before) : [])),
    },
    changed: pairs.flatMap(({ old, current }) =>
      contentHash(argumentsOf(old, names)) === contentHash(argumentsOf(current)) ? [] : [current.label],
    ),
    edges: diffEdges(before, after, names),
  };
}

export function diffSets(before: readonly string[], after: readonly string[]): SetDiff {
  return { added: without(after, before), removed: without(before, after) };
}

function without(items: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return [...new Set(items)].filter((item) => !known.has(item)).toSorted();
}

function keyOf(node: StructureNode): string {
  return `${node.type} ${subjectOf(node)}`;
}

function subjectOf(node: StructureNode): string {
  switch (node.type) {
    case "task":
      return node.tool;
    case "capability":
      return node.capability;
    case "dynamic":
      return node.expression;
    case "decision":
      return node.condition;
    case "fork":
      return node.combinator;
    case "loop":
      return node.over;
    case "join":
    case "try":
    default:
      return "";
  }
}

function labelAt({ nodes }: StaticStructure, index: number): string[] {
  const node = nodes[index];
  return node === undefined ? [] : [node.label];
}

/** Arguments with node ids mapped to the other structure, so that a moved node is not a change. */
function argumentsOf(node: StructureNode, names: ReadonlyMap<string, string> = new Map()): unknown {
  const values = "arguments" in node ? (node.arguments ?? {}) : {};
  return Object.entries(values).map(([key, value]) => [
    key,
    value.type === "reference" ? value.expression.replace(/\b[a-z]+\d+\b/g, (id) => names.get(id) ?? id) : value,
  ]);
}

/** Compares edges of matched nodes under the ids of the newer structure. */
function diffEdges(before: StaticStructure, after: StaticStructure, names: ReadonlyMap<string, string>): SetDiff {
  const rename = ({ from, to }: StructureEdge): string =>
    `${names.get(from) ?? `before ${from}`} ${names.get(to) ?? `before ${to}`}`;
  const [beforeLabels, afterLabels] = [labelsOf(before), labelsOf(after)];
  const old = new Map(before.edges.map((edge) => [`${rename(edge)} ${kindOf(edge)}`, describe(beforeLabels, edge)]));
  const current = new Map(
    after.edges.map((edge) => [`${edge.from} ${edge.to} ${kindOf(edge)}`, describe(afterLabels, edge)]),
  );
  return { added: missing(current, old), removed: missing(old, current) };
}

function missing(from: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  return [...from].flatMap(([key, text]) => (other.has(key) ? [] : [text]));
}

function kindOf(edge: StructureEdge): string {
  return edge.type === "conditional" ? `${edge.type} ${edge.outcome}` : edge.type;
}

function labelsOf({ nodes }: StaticStructure): ReadonlyMap<string, string> {
  return new Map(nodes.map(({ id, label }) => [id, label]));
}

function describe(labels: ReadonlyMap<string, string>, edge: StructureEdge): string {
  const label = (id: string): string => labels.get(id) ?? id;
  return `${label(edge.from)} → ${label(edge.to)} (${kindOf(edge)})`;
}
