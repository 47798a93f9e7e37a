import { isActive } from "./activity.ts";
import type { Frontier } from "./draft.ts";
import type { FlowWalker } from "./flow-walker.ts";
import { findIteration } from "./iteration.ts";
import { walkIteration } from "./loop-flow.ts";
import { combinatorOf, findWaitingCall } from "./started-lists.ts";
import { isFunction, type Node, type NodeOf } from "./syntax-tree.ts";

export function walkCall(node: NodeOf<"CallExpression">, flow: FlowWalker, frontier: Frontier): Frontier {
  const { callee, arguments: given } = node;
  const combinator = isActive(given[0]) ? combinatorOf(node) : undefined;
  if (combinator !== undefined) return walkFork(node, combinator, flow, frontier);
  const iteration = findIteration(node);
  if (iteration !== undefined && isActive(iteration.callback)) {
    return walkIteration(node, iteration, flow, frontier);
  }
  const fn = flow.scopes.calledFunction(callee);
  if (fn === undefined) return flow.walkAll([callee, ...given], frontier);
  const ready = flow.walkAll(given, frontier);
  return isFunction(callee) ? flow.walkFunction(fn, ready) : flow.walk(callee, ready);
}

function walkFork(node: NodeOf<"CallExpression">, combinator: string, flow: FlowWalker, frontier: Frontier): Frontier {
  const started = flow.started.get(node);
  if (started !== undefined) {
    const meanwhile = frontier.filter(({ from }) => from !== started.fork);
    return join(node, flow, [...meanwhile, ...started.arrived]);
  }
  const [promises] = node.arguments;
  const from = flow.add({ type: "fork", syntax: node, text: combinator }, frontier);
  return join(node, flow, walkBranches(promises, flow, [{ from }]));
}

/** Forks at the declaration of a list of calls that a later `Promise.all` awaits: the calls run from here on. */
export function walkDeclarator(node: NodeOf<"VariableDeclarator">, flow: FlowWalker, frontier: Frontier): Frontier {
  const { id, init } = node;
  const waiting = isActive(init) ? findWaitingCall(node) : undefined;
  const combinator = waiting && combinatorOf(waiting);
  if (init === null || waiting === undefined || combinator === undefined) return flow.walkAll([id, init], frontier);
  const fork = flow.add({ type: "fork", syntax: init, text: combinator }, frontier);
  flow.started.set(waiting, { fork, arrived: walkBranches(init, flow, [{ from: fork }]) });
  return [{ from: fork }];
}

function walkBranches(list: Node | undefined, flow: FlowWalker, entry: Frontier): Frontier {
  const elements: readonly (Node | null | undefined)[] = list?.type === "ArrayExpression" ? list.elements : [list];
  return elements.filter(isActive).flatMap((element) => flow.walk(element, entry));
}

function join(node: Node, flow: FlowWalker, arrived: Frontier): Frontier {
  return [{ from: flow.add({ type: "join", syntax: node, start: node.end - 1, end: node.end }, arrived) }];
}
