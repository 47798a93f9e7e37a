import { childrenOf, isFunction, type Node, type NodeOf } from "../syntax-tree.ts";
import { UnknownConstruct } from "./term.ts";

const LOOPS: ReadonlySet<string> = new Set<Node["type"]>([
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
]);

/** True if a statement can return from its function. */
export function hasReturn(statement: Node): boolean {
  return contains(statement, (node) => node.type === "ReturnStatement");
}

/** True if the body of a loop can leave or skip the rest of it. */
export function hasJump(body: Node): boolean {
  return (
    hasReturn(body) ||
    contains(body, (node) => node.type === "BreakStatement" || node.type === "ContinueStatement", LOOPS)
  );
}

/** Searches a statement, without the functions in it and without nodes of the skipped types. */
function contains(statement: Node, wanted: (node: Node) => boolean, skipped: ReadonlySet<string> = new Set()): boolean {
  const left = [statement];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (wanted(node)) return true;
    if (!isFunction(node) && !skipped.has(node.type)) left.push(...childrenOf(node));
  }
  return false;
}

/** True for a condition that leaves where it holds. */
export function isGuard(statement: Node): statement is NodeOf<"IfStatement"> {
  if (statement.type !== "IfStatement") return false;
  const last = statementsOf(statement.consequent).at(-1);
  return last !== undefined && LEAVING.has(last.type);
}

const LEAVING: ReadonlySet<string> = new Set<Node["type"]>([
  "ReturnStatement",
  "ThrowStatement",
  "ContinueStatement",
  "BreakStatement",
]);

export function statementsOf(statement: Node): readonly Node[] {
  return statement.type === "BlockStatement" ? statement.body : [statement];
}

/** The pattern that a loop declares. */
export function declared({ declarations }: NodeOf<"VariableDeclaration">): Node {
  const [first] = declarations;
  if (first === undefined) throw new UnknownConstruct("declaration");
  return first.id;
}
