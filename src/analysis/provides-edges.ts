import { isDeepStrictEqual } from "node:util";
import type { DescribedCall } from "./call-arguments.ts";
import type { DraftEdge, DraftNode } from "./draft.ts";
import { computeCoverage, type FieldFlow, fieldsOf, inputsOf, mapFields } from "./provides.ts";
import type { StructureEdge } from "./structure.ts";
import type { Node } from "./syntax-tree.ts";
import { valueOf } from "./value-flow.ts";
import type { Value } from "./values.ts";

export interface CallFlow {
  readonly calls: ReadonlyMap<DraftNode, DescribedCall>;
  /** Calls whose results an expression reads. */
  readonly readsOf: (node: Node) => readonly DraftNode[];
}

/** Finds an edge from each call to every later call whose arguments read its result. */
export function findProvidesEdges(flow: CallFlow): StructureEdge[] {
  const edges: StructureEdge[] = [];
  for (const consumer of flow.calls.values()) {
    const { draft } = consumer;
    for (const provider of providersOf(consumer, flow)) {
      if (provider.order < draft.order) edges.push(describeEdge(provider, consumer, flow));
    }
  }
  return edges;
}

function providersOf({ site }: DescribedCall, { readsOf }: CallFlow): Iterable<DraftNode> {
  const [first, ...others] = site.call?.arguments ?? [];
  if (first === undefined || others.length === 0) return first === undefined ? [] : readsOf(first);
  return new Set(site.call?.arguments.flatMap((argument) => readsOf(argument)));
}

function describeEdge(provider: DraftNode, consumer: DescribedCall, flow: CallFlow): StructureEdge {
  const edge = { from: provider.id, to: consumer.draft.id, type: "provides" } as const;
  const input = consumer.site.tool?.inputSchema;
  if (input === undefined) return edge;
  const fed = consumer.given.filter(({ expression }) => flow.readsOf(expression).includes(provider));
  const coverage = computeCoverage(new Set(fed.map(({ name }) => name)), inputsOf(input));
  const output = provider.site?.tool?.outputSchema;
  const fields = fed.flatMap(({ name, expression }) => toFieldFlow(name, valueOf(expression)));
  return {
    ...edge,
    ...(coverage !== null && { coverage }),
    ...(output !== undefined && fields.length > 0 && { fieldMapping: mapFields(fields, output, input) }),
  };
}

function toFieldFlow(toField: string, value: Value | undefined): FieldFlow[] {
  if (value?.kind !== "result") return [];
  return [{ fromPath: value.path === "" ? "$" : value.path.replace(/^\./, ""), toField }];
}

/**
 * Finds calls that a test on the result of an earlier call guards and that share an argument with it: `if (file.exists)
 * read({ path })` after `stat({ path })`. The result vouches for the argument without being passed on.
 */
export function findGuardEdges(edges: readonly DraftEdge[], flow: CallFlow): StructureEdge[] {
  const guards: StructureEdge[] = [];
  for (const { from, to, outcome } of edges) {
    const consumer = outcome === undefined ? undefined : flow.calls.get(to);
    const test = consumer === undefined ? undefined : findTest(from.syntax);
    if (consumer === undefined || test === undefined || outcome !== test.holds) continue;
    for (const provider of flow.readsOf(test.node)) {
      const call = flow.calls.get(provider);
      if (call !== undefined && provider.order < to.order && isGuard(call, consumer, flow)) {
        guards.push(describeGuard(call, consumer));
      }
    }
  }
  return guards;
}

/** True if the two calls share an argument and no result flows between them. */
function isGuard(provider: DescribedCall, consumer: DescribedCall, { readsOf }: CallFlow): boolean {
  const given = consumer.site.call?.arguments ?? [];
  if (given.some((argument) => readsOf(argument).includes(provider.draft))) return false;
  return shareArgument(provider, consumer);
}

/** Returns the test of a decision, and the outcome with which the tested value exists. */
function findTest(syntax: Node): { readonly node: Node; readonly holds: string } | undefined {
  if (syntax.type === "LogicalExpression") {
    return syntax.operator === "&&" ? { node: syntax.left, holds: "true" } : undefined;
  }
  if (syntax.type !== "IfStatement" && syntax.type !== "ConditionalExpression") return undefined;
  const { test } = syntax;
  const isNegated = test.type === "UnaryExpression" && test.operator === "!";
  return { node: test, holds: isNegated ? "false" : "true" };
}

function shareArgument(a: DescribedCall, b: DescribedCall): boolean {
  const values = Object.values(a.arguments ?? {});
  return Object.values(b.arguments ?? {}).some((value) => values.some((other) => isDeepStrictEqual(value, other)));
}

function describeGuard(provider: DescribedCall, consumer: DescribedCall): StructureEdge {
  const edge = { from: provider.draft.id, to: consumer.draft.id, type: "provides" } as const;
  const output = provider.site.tool?.outputSchema;
  const input = consumer.site.tool?.inputSchema;
  if (output === undefined || input === undefined) return edge;
  const coverage = computeCoverage(fieldsOf(output), inputsOf(input));
  return coverage === null ? edge : { ...edge, coverage };
}
