import { canExit, isActive } from "./activity.ts";
import type { Frontier } from "./draft.ts";
import type { FlowWalker } from "./flow-walker.ts";
import type { Node, NodeOf } from "./syntax-tree.ts";

const MAX_CASE = 100;

export function walkIf(node: NodeOf<"IfStatement">, flow: FlowWalker, frontier: Frontier): Frontier {
  const { test, consequent, alternate } = node;
  const tested = flow.walk(test, frontier);
  const calls = isActive(consequent) || isActive(alternate);
  if (!calls && !canExit(consequent) && !canExit(alternate)) return tested;
  const from = flow.add({ type: "decision", syntax: node, text: flow.source.excerpt(test), prunable: !calls }, tested);
  const otherwise: Frontier = [{ from, outcome: "false" }];
  return [
    ...flow.walk(consequent, [{ from, outcome: "true" }]),
    ...(alternate === null ? otherwise : flow.walk(alternate, otherwise)),
  ];
}

export function walkConditional(node: NodeOf<"ConditionalExpression">, flow: FlowWalker, frontier: Frontier): Frontier {
  const { test, consequent, alternate } = node;
  const tested = flow.walk(test, frontier);
  if (!isActive(consequent) && !isActive(alternate)) return tested;
  const from = flow.add({ type: "decision", syntax: node, text: flow.source.excerpt(test) }, tested);
  return [...flow.walk(consequent, [{ from, outcome: "true" }]), ...flow.walk(alternate, [{ from, outcome: "false" }])];
}

export function walkLogical(
  node: NodeOf<"LogicalExpression" | "AssignmentExpression">,
  flow: FlowWalker,
  frontier: Frontier,
): Frontier {
  const { left, operator, right } = node;
  const tested = flow.walk(left, frontier);
  if (!isActive(right)) return tested;
  const text = flow.source.excerpt(left);
  const nullish = operator.startsWith("??");
  const from = flow.add({ type: "decision", syntax: node, text: nullish ? `${text} == null` : text }, tested);
  const needed = neededOutcome(operator);
  return [...flow.walk(right, [{ from, outcome: needed }]), { from, outcome: needed === "true" ? "false" : "true" }];
}

/** Outcome of the left side that makes the program evaluate the right side. */
export function neededOutcome(operator: string): "true" | "false" {
  return operator.startsWith("||") ? "false" : "true";
}

export function walkSwitch(node: NodeOf<"SwitchStatement">, flow: FlowWalker, frontier: Frontier): Frontier {
  const { discriminant, cases } = node;
  const tests = cases.map(({ test }) => test);
  const tested = flow.walkAll([discriminant, ...tests], frontier);
  const bodies = cases.flatMap(({ consequent }) => consequent);
  const calls = bodies.some(isActive);
  if (!calls && !bodies.some(canExit)) return tested;
  const from = flow.add(
    { type: "decision", syntax: node, text: flow.source.excerpt(discriminant), prunable: !calls },
    tested,
  );
  const walkCases = (): Frontier => {
    let falling: Frontier = [];
    for (const each of cases) {
      falling = flow.walkAll(each.consequent, [...falling, { from, outcome: caseOutcome(each, flow) }]);
    }
    return tests.includes(null) ? falling : [...falling, { from, outcome: "default" }];
  };
  return flow.breakable({ labels: flow.labelsOf(node), plain: true, breaks: [] }, walkCases);
}

/** Formats the outcome of a case: `case "a"` or `default`. */
export function caseOutcome({ test }: NodeOf<"SwitchCase">, { source }: Pick<FlowWalker, "source">): string {
  if (test === null) return "default";
  const isText = test.type === "Literal" && typeof test.value === "string";
  return `case ${isText ? quote(test.value) : source.excerpt(test)}`;
}

/** Quotes on one line: inserted text must not add lines to a program. */
function quote(text: string): string {
  const short = text.length > MAX_CASE ? `${text.slice(0, MAX_CASE)}…` : text;
  return JSON.stringify(short).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

export function walkTry(node: NodeOf<"TryStatement">, flow: FlowWalker, frontier: Frontier): Frontier {
  const { block, handler, finalizer } = node;
  const parts: (Node | null)[] = [block, handler, finalizer];
  if (!parts.some(isActive)) {
    return parts.some(canExit) ? walkTryWithoutCalls(node, flow, frontier) : frontier;
  }
  const from = flow.add({ type: "try", syntax: node }, frontier);
  const walkBody = (): Frontier => {
    const passed = flow.within(from, (entry) => flow.walk(block, entry));
    return handler === null ? passed : [...passed, ...flow.walk(handler, [{ from, outcome: "catch" }])];
  };
  if (finalizer === null) return walkBody();
  const { frontier: normal, edges: abrupt } = flow.guarded(walkBody);
  const done = flow.walk(finalizer, [...normal, ...abrupt]);
  if (abrupt.length > 0) flow.returnFrom(done);
  return normal.length === 0 ? [] : done;
}

/** Walks a `try` without calls: only the places it can be left from matter. */
function walkTryWithoutCalls(
  { block, handler, finalizer }: NodeOf<"TryStatement">,
  flow: FlowWalker,
  frontier: Frontier,
) {
  if (handler === null) return flow.walk(finalizer, flow.walk(block, frontier));
  const { frontier: passed, edges: thrown } = flow.catching(() => flow.walk(block, frontier));
  const caught = flow.walk(handler, thrown.length === 0 ? frontier : merge(frontier, thrown));
  return flow.walk(finalizer, caught.length === 0 ? passed : merge(passed, caught));
}

function merge(a: Frontier, b: Frontier): Frontier {
  return a === b ? a : [...new Set([...a, ...b])];
}
