import { type ArgumentSources, describeCall, type DescribedCall } from "./call-arguments.ts";
import { DataFlow } from "./data-flow.ts";
import type { Draft, DraftNode } from "./draft.ts";
import { labelNodes, type Unlabelled } from "./labels.ts";
import { findGuardEdges, findProvidesEdges } from "./provides-edges.ts";
import type { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import type { StaticStructure, StructureEdge, StructureNode } from "./structure.ts";
import type { Node } from "./syntax-tree.ts";
import type { ValueFlow } from "./value-flow.ts";
import type { Site } from "./values.ts";

export interface StructureParts {
  readonly draft: Draft;
  readonly scopes: Scopes;
  readonly values: ValueFlow;
  readonly source: SourceText;
}

const NOTHING: readonly never[] = [];

/** Gives the draft its arguments, labels and the edges along which data flows. */
export function assembleStructure({ draft, scopes, values, source }: StructureParts): StaticStructure {
  const drafts = new Map(draft.nodes.flatMap((node) => (node.site === undefined ? [] : [[node.site, node] as const])));
  const reads = new DataFlow(scopes, values).resolve(findReaders(draft));
  const known = new Map<Node, readonly DraftNode[]>();
  const readsOf = (node: Node): readonly DraftNode[] => {
    const sites = reads.get(node);
    if (sites === undefined) return NOTHING;
    const found =
      known.get(node) ?? [...sites].flatMap((site) => drafts.get(site) ?? []).toSorted((a, b) => a.order - b.order);
    known.set(node, found);
    return found;
  };
  const sources: ArgumentSources = {
    scopes,
    values,
    source,
    nodesReadBy: (node) => readsOf(node).map(({ id }) => id),
    idOf: (site) => drafts.get(site)?.id,
  };
  const calls = new Map(draft.nodes.flatMap((node) => describeCall(node, sources)).map((call) => [call.draft, call]));
  const flow = { calls, values, readsOf };
  return {
    nodes: describeNodes(draft.nodes, calls, source),
    edges: [
      ...controlEdges(draft),
      ...containsEdges(draft),
      ...findProvidesEdges(flow),
      ...findGuardEdges(draft.edges, flow),
    ],
  };
}

/** Expressions one must know the sources of: what calls are given and what decisions test. */
function findReaders({ nodes }: Draft): Node[] {
  return nodes.flatMap(({ site, syntax }) => {
    if (site?.call !== undefined) return site.call.arguments.flatMap(partsOf);
    if (syntax.type === "IfStatement" || syntax.type === "ConditionalExpression") return [syntax.test];
    return syntax.type === "LogicalExpression" ? [syntax.left] : [];
  });
}

function partsOf(argument: Node): Node[] {
  if (argument.type !== "ObjectExpression") return [argument];
  return [argument, ...argument.properties.map((part) => (part.type === "Property" ? part.value : part.argument))];
}

function describeNodes(
  drafts: readonly DraftNode[],
  calls: ReadonlyMap<DraftNode, DescribedCall>,
  source: SourceText,
): StructureNode[] {
  const unlabelled = drafts.map((draft): Unlabelled => {
    const base = { id: draft.id, range: source.range(draft) };
    const details = describeNode(draft, source);
    const given = calls.get(draft)?.arguments;
    const hasArguments = given !== undefined && draft.type !== "dynamic";
    return { node: { ...base, ...details, ...(hasArguments && { arguments: given }) }, title: titleOf(details) };
  });
  const labels = labelNodes(unlabelled);
  return unlabelled.map(({ node: { id, ...node } }, index) => ({ id, label: labels[index], ...node }) as StructureNode);
}

type Details = StructureNode extends infer N
  ? N extends StructureNode
    ? Omit<N, "id" | "label" | "range">
    : never
  : never;

function describeNode({ type, text, site, syntax }: DraftNode, source: SourceText): Details {
  if (site !== undefined) return describeSite(site, source.excerpt(site.callee ?? syntax.parent ?? syntax));
  if (type === "decision") return { type, condition: text };
  if (type === "fork") return { type, combinator: text as "all" };
  return type === "loop" ? { type, over: text } : { type: type === "join" ? type : "try" };
}

function describeSite({ kind, name = "" }: Site, expression: string): Details {
  if (kind === "task") return { type: kind, tool: name };
  return kind === "capability" ? { type: kind, capability: name } : { type: kind, expression };
}

function titleOf(details: Details): string {
  if (details.type === "task") return details.tool;
  if (details.type === "capability") return details.capability;
  if (details.type === "dynamic") return details.expression;
  if (details.type === "decision") return `if ${details.condition}`;
  if (details.type === "fork") return `Promise.${details.combinator}`;
  return details.type === "loop" ? `for ${details.over}` : details.type;
}

function controlEdges({ edges }: Draft): StructureEdge[] {
  return edges.map(({ from, to, outcome }) =>
    outcome === undefined
      ? { from: from.id, to: to.id, type: "sequence" }
      : { from: from.id, to: to.id, type: "conditional", outcome },
  );
}

function containsEdges({ nodes }: Draft): StructureEdge[] {
  return nodes.flatMap(({ id, container }) =>
    container === undefined ? [] : [{ from: container.id, to: id, type: "contains" as const }],
  );
}
