import type { Frontier } from "./draft.ts";
import type { FlowWalker } from "./flow-walker.ts";
import { findIteration, walkIteration } from "./loop-flow.ts";
import { isFunction, type Node, type NodeOf } from "./syntax-tree.ts";

const COMBINATORS = new Set(["all", "allSettled", "race", "any"]);

export function walkCall(node: NodeOf<"CallExpression">, flow: FlowWalker, frontier: Frontier): Frontier {
  const { callee, arguments: given } = node;
  const combinator = findCombinator(node, flow);
  if (combinator !== undefined) return walkFork(node, combinator, flow, frontier);
  const iteration = findIteration(node);
  if (iteration !== undefined && flow.activity.isActive(iteration.callback)) {
    return walkIteration(node, iteration, flow, frontier);
  }
  const fn = flow.scopes.calledFunction(callee);
  if (fn === undefined) return flow.walkAll([callee, ...given], frontier);
  const ready = flow.walkAll(given, frontier);
  return isFunction(callee) ? flow.walkFunction(fn, ready) : flow.walk(callee, ready);
}

/** The name of the method where it is one of `Promise` that waits for several. */
function findCombinator({ callee, arguments: given }: NodeOf<"CallExpression">, flow: FlowWalker): string | undefined {
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return undefined;
  const { object, property } = callee;
  if (object.name !== "Promise" || flow.scopes.bindingOf(object) !== undefined) return undefined;
  const name = property.type === "Identifier" && !callee.computed ? property.name : "";
  return COMBINATORS.has(name) && flow.activity.isActive(given[0]) ? name : undefined;
}

function walkFork(node: NodeOf<"CallExpression">, combinator: string, flow: FlowWalker, frontier: Frontier): Frontier {
  const [promises] = node.arguments;
  const elements: readonly (Node | null | undefined)[] =
    promises?.type === "ArrayExpression" ? promises.elements : [promises];
  const from = flow.add({ type: "fork", syntax: node, text: combinator }, frontier);
  const arrived = elements
    .filter((element) => flow.activity.isActive(element))
    .flatMap((element) => flow.walk(element, [{ from }]));
  return [{ from: flow.add({ type: "join", syntax: node, start: node.end - 1, end: node.end }, arrived) }];
}
