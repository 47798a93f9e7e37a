import { isMember, methodOf, type Node, type NodeOf } from "./syntax-tree.ts";

/** Methods that call their first argument once per element. */
const ITERATORS = new Set(
  "map forEach filter reduce reduceRight flatMap some every find findIndex findLast findLastIndex sort toSorted".split(
    " ",
  ),
);
const FACTORIES = new Set(["from", "fromAsync"]);

export interface Iteration {
  readonly over: Node;
  readonly callback: Node;
}

/** Recognises `list.map(callback)` and the like. */
export function findIteration(node: NodeOf<"CallExpression">): Iteration | undefined {
  const { callee, arguments: given } = node;
  const name = methodOf(node);
  if (name === undefined || callee.type !== "MemberExpression") return undefined;
  const [first, second] = given;
  if (FACTORIES.has(name) && isMember(callee, "Array", name)) {
    return first !== undefined && second !== undefined ? { over: first, callback: second } : undefined;
  }
  return ITERATORS.has(name) && first !== undefined ? { over: callee.object, callback: first } : undefined;
}
