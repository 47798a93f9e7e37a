import { bindingOf } from "./bindings.ts";
import { findIteration } from "./iteration.ts";
import { isFunction, type Node, type NodeOf } from "./syntax-tree.ts";

type Call = NodeOf<"CallExpression">;

const REPEATS: ReadonlySet<string> = new Set<Node["type"]>([
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
]);
const COMBINATORS = new Set(["all", "allSettled", "race", "any"]);

/** The name of the method where a call is one of `Promise` that waits for several. */
export function combinatorOf({ callee }: Call): string | undefined {
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || callee.computed) return undefined;
  const { object, property } = callee;
  if (object.name !== "Promise" || bindingOf(object) !== undefined) return undefined;
  return property.type === "Identifier" && COMBINATORS.has(property.name) ? property.name : undefined;
}

/**
 * Where a list is waited for that is there for nothing else: of `const started = [a(), b()]; … await Promise.all(started)` the
 * call of `Promise.all`. What it starts runs side by side from the declaration on.
 */
export function findWaitingCall({ id, init, parent }: NodeOf<"VariableDeclarator">): Call | undefined {
  const binding = bindingOf(id);
  if (binding?.writes.length !== 1 || binding.inflows.length > 0 || !isList(init)) return undefined;
  const [read, ...others] = binding.reads;
  const call = others.length === 0 ? read?.parent : undefined;
  if (call?.type !== "CallExpression" || call.arguments[0] !== read) return undefined;
  return isWaiting(call, parent?.parent) ? call : undefined;
}

function isWaiting(call: Call, block: Node | null | undefined): boolean {
  return combinatorOf(call) !== undefined && runsOnceIn(call, block);
}

function isList(node: Node | null): boolean {
  if (node?.type === "CallExpression") return findIteration(node) !== undefined;
  return node?.type === "ArrayExpression" && node.elements.every((element) => element?.type !== "AwaitExpression");
}

/** Neither repeated nor put off with respect to the block. */
function runsOnceIn(node: Node, block: Node | null | undefined): boolean {
  let outer: Node | null | undefined = node;
  while (outer && outer !== block && !isFunction(outer) && !REPEATS.has(outer.type)) outer = outer.parent;
  return outer !== undefined && outer !== null && outer === block;
}
