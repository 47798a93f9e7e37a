import { type ByType, handlerOf, isMember, type Node } from "./syntax-tree.ts";

export const EQUALITY: ReadonlySet<string> = new Set(["===", "!==", "==", "!="]);

/** `if (!args.path) throw …` makes the parameter required after all, also as one of several conditions. */
export function isRefused(node: Node): boolean {
  let condition = node;
  while (condition.parent?.type === "LogicalExpression" && condition.parent.operator === "||") {
    condition = condition.parent;
  }
  const { parent } = condition;
  if (parent?.type !== "IfStatement" || parent.test !== condition) return false;
  const { consequent } = parent;
  const first = consequent.type === "BlockStatement" ? consequent.body[0] : consequent;
  return first?.type === "ThrowStatement";
}

/** True for a place that tells values by their type, or one literal from all others. */
export function isTypeTest(node: Node): boolean {
  const { parent } = node;
  if (parent?.type === "CallExpression") return isMember(parent.callee, "Array", "isArray");
  if (parent?.type === "UnaryExpression") return parent.operator === "typeof";
  if (parent?.type !== "BinaryExpression" || !EQUALITY.has(parent.operator)) return false;
  return (parent.left === node ? parent.right : parent.left).type === "Literal";
}

/** True for a place that works without a value. */
export function isTest(node: Node): boolean {
  const { parent } = node;
  return parent !== null && parent !== undefined && handlerOf(TESTS, parent)?.(parent, node) === true;
}

const TESTS: ByType<readonly [Node], boolean> = {
  IfStatement: ({ test }, node) => test === node,
  ConditionalExpression: ({ test }, node) => test === node,
  LogicalExpression: ({ left }, node) => left === node,
  UnaryExpression: ({ operator }) => operator === "!" || operator === "typeof",
  MemberExpression: ({ object, optional }, node) => object === node && optional,
  BinaryExpression: ({ operator }) => EQUALITY.has(operator),
};
