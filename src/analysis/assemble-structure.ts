import { type ArgumentSources, describeCall, type DescribedCall } from "./call-arguments.ts";
import { DataFlow } from "./data-flow.ts";
import type { Draft, DraftNode } from "./draft.ts";
import { labelNodes, type Unlabelled } from "./labels.ts";
import { findGuardEdges, findProvidesEdges } from "./provides-edges.ts";
import type { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import type { ArgumentsStructure, StaticStructure, StructureEdge, StructureNode } from "./structure.ts";
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

/** Adds arguments, labels and data flow edges to the draft. */
export function assembleStructure({ draft, scopes, values, source }: StructureParts): StaticStructure {
  const drafts = new Map<Site, DraftNode>();
  for (const node of draft.nodes) if (node.site !== undefined) drafts.set(node.site, node);
  const sitesIn = new DataFlow(scopes, values).resolve(findReaders(draft));
  const known = new Map<Node, readonly DraftNode[]>();
  const readsOf = (node: Node): readonly DraftNode[] => {
    const sites = sitesIn(node);
    if (sites === undefined) return NOTHING;
    const found = known.get(node) ?? inOrder(sites, drafts);
    known.set(node, found);
    return found;
  };
  const sources: ArgumentSources = {
    scopes,
    source,
    nodesReadBy: (node) => readsOf(node).map(({ id }) => id),
    idOf: (site) => drafts.get(site)?.id,
  };
  const calls = new Map<DraftNode, DescribedCall>();
  for (const node of draft.nodes) {
    if (node.site !== undefined) calls.set(node, describeCall(node, node.site, sources));
  }
  const flow = { calls, readsOf };
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

function inOrder(sites: ReadonlySet<Site>, drafts: ReadonlyMap<Site, DraftNode>): readonly DraftNode[] {
  const found: DraftNode[] = [];
  for (const site of sites) {
    const node = drafts.get(site);
    if (node !== undefined) found.push(node);
  }
  return found.length > 1 ? found.toSorted((a, b) => a.order - b.order) : found;
}

/** Expressions whose sources the structure needs: arguments of calls and tests of decisions. */
function findReaders({ nodes }: Draft): Node[] {
  const readers: Node[] = [];
  for (const { site, syntax } of nodes) {
    if (site?.call !== undefined) for (const argument of site.call.arguments) pushParts(readers, argument);
    else if (syntax.type === "IfStatement" || syntax.type === "ConditionalExpression") readers.push(syntax.test);
    else if (syntax.type === "LogicalExpression") readers.push(syntax.left);
  }
  return readers;
}

function pushParts(parts: Node[], argument: Node): void {
  parts.push(argument);
  if (argument.type !== "ObjectExpression") return;
  for (const part of argument.properties) parts.push(part.type === "Property" ? part.value : part.argument);
}

function describeNodes(
  drafts: readonly DraftNode[],
  calls: ReadonlyMap<DraftNode, DescribedCall>,
  source: SourceText,
): StructureNode[] {
  const unlabelled = drafts.map((draft) => describeDraft(draft, calls.get(draft)?.arguments, source));
  const labels = labelNodes(unlabelled);
  return unlabelled.map(({ id, range, details, arguments: given }, index) => {
    const label = labels[index];
    const node =
      given === undefined ? { id, label, range, ...details } : { id, label, range, ...details, arguments: given };
    return node as StructureNode;
  });
}

interface DescribedNode extends Unlabelled {
  readonly details: NodeDetails;
}

function describeDraft(draft: DraftNode, given: ArgumentsStructure | undefined, source: SourceText): DescribedNode {
  const details = describeNode(draft, source);
  const { id, type } = draft;
  const range = source.range(draft);
  return { id, range, title: titleOf(details), details, arguments: type === "dynamic" ? undefined : given };
}

type NodeDetails = StructureNode extends infer N
  ? N extends StructureNode
    ? Omit<N, "id" | "label" | "range">
    : never
  : never;

function describeNode({ type, text, site, syntax }: DraftNode, source: SourceText): NodeDetails {
  if (site !== undefined) return describeSite(site, syntax, source);
  if (type === "decision") return { type, condition: text };
  if (type === "fork") return { type, combinator: text as "all" };
  return type === "loop" ? { type, over: text } : { type: type === "join" ? type : "try" };
}

function describeSite({ kind, name = "", callee }: Site, syntax: Node, source: SourceText): NodeDetails {
  if (kind === "task") return { type: kind, tool: name };
  if (kind === "capability") return { type: kind, capability: name };
  return { type: kind, expression: source.excerpt(callee ?? syntax.parent ?? syntax) };
}

function titleOf(details: NodeDetails): string {
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
  const edges: StructureEdge[] = [];
  for (const { id, container } of nodes) {
    if (container !== undefined) edges.push({ from: container.id, to: id, type: "contains" });
  }
  return edges;
}
