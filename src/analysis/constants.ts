import type { JsonValue } from "../base/json.ts";
import type { Scopes } from "./scopes.ts";
import { type ByType, handlerOf, type Node, type NodeOf, staticKey } from "./syntax-tree.ts";

const MAX_STEPS = 50;

type Constant = { readonly value: JsonValue };

/** Evaluates an expression that has the same JSON value in every run. */
export function findConstant(node: Node, scopes: Scopes, steps = 0): Constant | undefined {
  if (steps > MAX_STEPS) return undefined;
  return handlerOf(HANDLERS, node)?.(node, scopes, steps + 1);
}

/** Evaluates an expression used as the name of a property. */
export function findString(node: Node, scopes: Scopes): string | undefined {
  const value = findConstant(node, scopes)?.value;
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** Returns `b` for `a.b` and `a["b"]`, also where `"b"` comes from a constant. */
export function findMemberKey(node: NodeOf<"MemberExpression">, scopes: Scopes): string | undefined {
  if (node.computed) return findString(node.property, scopes);
  return node.property.type === "Identifier" ? node.property.name : undefined;
}

const HANDLERS: ByType<readonly [Scopes, number], Constant | undefined> = {
  Literal(node) {
    const { value } = node;
    const isJson = value === null ? !("regex" in node) : ["string", "number", "boolean"].includes(typeof value);
    return isJson ? { value: value as JsonValue } : undefined;
  },
  TemplateLiteral(node) {
    const [only] = node.quasis;
    return node.expressions.length === 0 && typeof only?.value.cooked === "string"
      ? { value: only.value.cooked }
      : undefined;
  },
  UnaryExpression(node, scopes, steps) {
    const value = node.operator === "-" ? findConstant(node.argument, scopes, steps)?.value : undefined;
    return typeof value === "number" ? { value: -value } : undefined;
  },
  BinaryExpression(node, scopes, steps) {
    if (node.operator !== "+") return undefined;
    const left = findConstant(node.left, scopes, steps)?.value;
    const right = left === undefined ? undefined : findConstant(node.right, scopes, steps)?.value;
    return typeof left === "string" && typeof right === "string" ? { value: left + right } : undefined;
  },
  /** Skips objects: other code could change them. */
  Identifier(node, scopes, steps) {
    const source = scopes.definitionOf(node);
    const found = source === undefined ? undefined : findConstant(source, scopes, steps);
    return typeof found?.value === "object" ? undefined : found;
  },
  ArrayExpression(node, scopes, steps) {
    const values: JsonValue[] = [];
    for (const element of node.elements) {
      const found = element === null ? undefined : findConstant(element, scopes, steps);
      if (found === undefined) return undefined;
      values.push(found.value);
    }
    return { value: values };
  },
  ObjectExpression(node, scopes, steps) {
    const entries: [string, JsonValue][] = [];
    for (const property of node.properties) {
      const key = property.type === "Property" && property.kind === "init" ? staticKey(property) : undefined;
      const found = key === undefined ? undefined : findConstant((property as { value: Node }).value, scopes, steps);
      if (key === undefined || key === "__proto__" || found === undefined) return undefined;
      entries.push([key, found.value]);
    }
    return { value: Object.fromEntries(entries) };
  },
};
