import { bindingOf } from "./bindings.ts";
import { findConstant } from "./constants.ts";
import type { DraftNode } from "./draft.ts";
import type { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import type { ArgumentsStructure, ArgumentValue } from "./structure.ts";
import { type Node, type NodeOf, staticKey } from "./syntax-tree.ts";
import { valueOf } from "./value-flow.ts";
import type { Site } from "./values.ts";

interface NamedArgument {
  readonly name: string;
  readonly expression: Node;
}

/**
 * Finds the statically known properties of a call's argument; undefined where the argument is not a known object
 * literal.
 */
function findArguments({ call }: Site, scopes: Scopes): readonly NamedArgument[] | undefined {
  const [first] = call?.arguments ?? [];
  const object = first === undefined ? undefined : findObject(first, scopes);
  if (object === undefined) return undefined;
  const given: NamedArgument[] = [];
  for (const property of object.properties) {
    const name = property.type === "Property" ? staticKey(property) : undefined;
    if (property.type !== "Property" || name === undefined || name === "__proto__") continue;
    given.push({ name, expression: property.value });
  }
  return given;
}

/** Returns an object literal, directly or through a constant that nothing adds properties to. */
function findObject(node: Node, scopes: Scopes): NodeOf<"ObjectExpression"> | undefined {
  if (node.type === "ObjectExpression") return node;
  const definition = bindingOf(node)?.inflows.length === 0 ? scopes.definitionOf(node) : undefined;
  return definition?.type === "ObjectExpression" ? definition : undefined;
}

export interface ArgumentSources {
  readonly scopes: Scopes;
  readonly source: SourceText;
  /** Ids of the nodes whose results an expression reads. */
  nodesReadBy(expression: Node): readonly string[];
  idOf(site: Site): string | undefined;
}

/** A call and its statically known arguments. */
export interface DescribedCall {
  readonly draft: DraftNode;
  readonly site: Site;
  readonly given: readonly NamedArgument[];
  readonly arguments: ArgumentsStructure | undefined;
}

export function describeCall(draft: DraftNode, site: Site, sources: ArgumentSources): DescribedCall {
  const given = findArguments(site, sources.scopes);
  return {
    draft,
    site,
    given: given ?? [],
    arguments: given === undefined ? undefined : describeArguments(given, sources),
  };
}

function describeArguments(given: readonly NamedArgument[], sources: ArgumentSources): ArgumentsStructure {
  const described: Record<string, ArgumentValue> = {};
  for (const { name, expression } of given) described[name] = describeArgument(expression, sources);
  return described;
}

function describeArgument(node: Node, sources: ArgumentSources): ArgumentValue {
  const constant = findConstant(node, sources.scopes);
  if (constant !== undefined) return { type: "literal", value: constant.value };
  const value = valueOf(withoutDefault(node));
  if (value?.kind === "args" && value.path.length > 0)
    return { type: "parameter", parameterName: value.path.join(".") };
  const id = value?.kind === "result" ? sources.idOf(value.site) : undefined;
  if (value?.kind === "result" && id !== undefined) {
    return { type: "reference", expression: id + value.path, nodes: [id] };
  }
  return { type: "reference", expression: sources.source.excerpt(node), nodes: sources.nodesReadBy(node) };
}

/** `args.limit ?? 10` still counts as the parameter `limit`. */
function withoutDefault(node: Node): Node {
  return node.type === "LogicalExpression" && node.operator !== "&&" ? node.left : node;
}
