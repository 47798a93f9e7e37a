import { bindingOf } from "./bindings.ts";
import { findIteration } from "./iteration.ts";
import { isFunction, type Node, type NodeOf } from "./syntax-tree.ts";

type CallNode = NodeOf<"CallExpression">;

const REPEATS: ReadonlySet<string> = new Set<Node["type"]>([
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
]);
const COMBINATORS = new Set(["all", "allSettled", "race", "any"]);

/** Returns the combinator if a call is `Promise.all`, `race` or the like. */
export function combinatorOf({ callee }: CallNode): string | undefined {
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || callee.computed) return undefined;
  const { object, property } = callee;
  if (object.name !== "Promise" || bindingOf(object) !== undefined) return undefined;
  return property.type === "Identifier" && COMBINATORS.has(property.name) ? property.name : undefined;
}

/**
 * Returns the `Promise.all` call of `const started = [a(), b()]; … await Promise.all(started)`, if the list has no
 * other use. Its calls run concurrently from the declaration on.
 */
export function findWaitingCall({ id, init, parent }: NodeOf<"VariableDeclarator">): CallNode | undefined {
  const binding = bindingOf(id);
  if (binding?.writes.length !== 1 || binding.inflows.length > 0 || !isList(init)) return undefined;
  const [read, ...others] = binding.reads;
  const call = others.length === 0 ? read?.parent : undefined;
  if (call?.type !== "CallExpression" || call.arguments[0] !== read) return undefined;
  return isWaiting(call, parent?.parent) ? call : undefined;
}

function isWaiting(call: CallNode, block: Node | null | undefined): boolean {
  return combinatorOf(call) !== undefined && runsOnceIn(call, block);
}

function isList(node: Node | null): boolean {
  if (node?.type === "CallExpression") return findIteration(node) !== undefined;
  return node?.type === "ArrayExpression" && node.elements.every((element) => element?.type !== "AwaitExpression");
}

/** True if the node runs exactly once with the block: neither in a loop nor in a function. */
function runsOnceIn(node: Node, block: Node | null | undefined): boolean {
  let outer: Node | null | undefined = node;
  while (outer && outer !== block && !isFunction(outer) && !REPEATS.has(outer.type)) outer = outer.parent;
  return outer !== undefined && outer !== null && outer === block;
}
