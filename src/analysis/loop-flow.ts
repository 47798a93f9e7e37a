import { isActive } from "./activity.ts";
import type { DraftPart, Frontier } from "./draft.ts";
import type { BreakTarget, FlowWalker } from "./flow-walker.ts";
import type { Iteration } from "./iteration.ts";
import { isFunction, type LoopNode, type Node, type NodeOf } from "./syntax-tree.ts";

/** Parts of a loop, by whether they run once before it or in each iteration. */
interface LoopParts {
  readonly before: readonly (Node | null)[];
  readonly each: readonly (Node | null)[];
  readonly over: Node | null;
}

function loopPartsOf(node: LoopNode): LoopParts {
  if (node.type === "ForStatement") {
    const { init, test, update, body } = node;
    return { before: [init], each: [test, body, update], over: test };
  }
  if (node.type === "WhileStatement") return { before: [], each: [node.test, node.body], over: node.test };
  if (node.type === "DoWhileStatement") return { before: [], each: [node.body, node.test], over: node.test };
  return { before: [node.right], each: [node.left, node.body], over: node.right };
}

export function walkLoop(node: LoopNode, flow: FlowWalker, frontier: Frontier): Frontier {
  const { before, each, over } = loopPartsOf(node);
  const started = flow.walkAll(before, frontier);
  if (!each.some(isActive)) return started;
  const text = over === null ? "true" : flow.source.excerpt(over);
  const from = flow.add({ type: "loop", syntax: node, text }, started);
  const target: BreakTarget = { labels: flow.labelsOf(node), plain: true, breaks: [] };
  flow.breakable(target, () => flow.within(from, (entry) => flow.walkAll(each, entry)));
  return isEndless(node, over) && target.breaks.length === 0 ? [] : [{ from }];
}

function isEndless(node: LoopNode, test: Node | null): boolean {
  if (node.type === "ForOfStatement" || node.type === "ForInStatement") return false;
  return test === null || (test.type === "Literal" && test.value === true);
}

export function walkIteration(
  node: NodeOf<"CallExpression">,
  { over, callback }: Iteration,
  flow: FlowWalker,
  frontier: Frontier,
): Frontier {
  const others = node.arguments.filter((argument) => argument !== callback && argument !== over);
  const started = flow.walkAll([over, ...others], frontier);
  const part: DraftPart = { type: "loop", syntax: node, text: flow.source.excerpt(over) };
  const from = flow.add(part, started);
  flow.within(from, (entry) =>
    isFunction(callback) ? flow.walkFunction(callback, entry) : flow.walk(callback, entry),
  );
  return [{ from }];
}
