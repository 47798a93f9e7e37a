import { canExit, isActive } from "./activity.ts";
import { bindingOf } from "./bindings.ts";
import { walkConditional, walkIf, walkLogical, walkSwitch, walkTry } from "./branch-flow.ts";
import { walkCall, walkDeclarator } from "./call-flow.ts";
import { Draft, type DraftNode, type DraftPart, type Frontier, type OpenEdge } from "./draft.ts";
import type { Collected, BreakTarget, FlowWalker } from "./flow-walker.ts";
import { walkLoop } from "./loop-flow.ts";
import type { ProgramProblem } from "./problem.ts";
import type { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import {
  type ByType,
  childrenOf,
  type FunctionNode,
  handlerOf,
  isFunction,
  type Node,
  pushAll,
} from "./syntax-tree.ts";
import type { Site } from "./values.ts";

/** Far more than real programs need, and less than the stack holds. */
const MAX_DEPTH = 1000;

interface FlowParts {
  readonly scopes: Scopes;
  readonly source: SourceText;
  readonly sites: ReadonlyMap<Node, Site>;
}

/** State of one function. */
interface FunctionState {
  readonly returns: OpenEdge[];
  readonly targets: BreakTarget[];
  /** Edges that leave a `try` with a `finally`, innermost last. */
  readonly guards: OpenEdge[][];
  /** Throws in a `try` that has a handler and no calls, innermost last. */
  readonly catches: OpenEdge[][];
}

/**
 * Walks a program in execution order and drafts its nodes and edges. It walks each part once, a function where it is
 * first used, so the structure has no cycles.
 */
export class StaticStructureBuilder implements FlowWalker {
  readonly draft = new Draft();
  readonly scopes: Scopes;
  readonly source: SourceText;
  readonly started: FlowWalker["started"] = new Map();
  problem: ProgramProblem | undefined;
  readonly #sites: ReadonlyMap<Node, Site>;
  readonly #placed = new Set<FunctionNode>();
  #container: DraftNode | undefined;
  #state: FunctionState = createState();
  #depth = 0;

  constructor({ scopes, source, sites }: FlowParts) {
    this.scopes = scopes;
    this.source = source;
    this.#sites = sites;
  }

  build(root: Node): Draft {
    this.walk(root, []);
    for (const { node } of this.scopes.functions.values()) {
      if (isActive(node)) this.#place(node, []);
    }
    this.draft.finish();
    return this.draft;
  }

  walk(node: Node | null | undefined, frontier: Frontier): Frontier {
    if (node === null || node === undefined) return frontier;
    if (!isActive(node) && !canExit(node)) return frontier;
    if (this.#depth > MAX_DEPTH) {
      this.problem ??= {
        offset: node.start,
        message: `Calls are nested too deeply here: more than ${MAX_DEPTH} levels`,
      };
      return frontier;
    }
    this.#depth += 1;
    const handler = handlerOf(HANDLERS, node);
    const passed = handler === undefined ? this.walkAll(childrenOf(node), frontier) : handler(node, this, frontier);
    this.#depth -= 1;
    const site = this.#sites.get(node);
    return site === undefined ? passed : [{ from: this.add({ type: site.kind, syntax: node, site }, passed) }];
  }

  walkAll(nodes: readonly (Node | null)[], frontier: Frontier): Frontier {
    let passed = frontier;
    for (const node of nodes) passed = this.walk(node, passed);
    return passed;
  }

  walkName(node: Node, frontier: Frontier): Frontier {
    const fn = bindingOf(node)?.fn;
    return fn === undefined ? frontier : this.#place(fn, frontier);
  }

  #place(fn: FunctionNode, frontier: Frontier): Frontier {
    return isActive(fn) ? this.walkFunction(fn, frontier) : frontier;
  }

  walkFunction(fn: FunctionNode, frontier: Frontier): Frontier {
    if (this.#placed.has(fn)) return frontier;
    this.#placed.add(fn);
    const outer = this.#state;
    this.#state = createState();
    const passed = this.walk(fn.body, this.walkAll(fn.params, frontier));
    const { returns } = this.#state;
    this.#state = outer;
    return [...passed, ...returns];
  }

  /** Skips a named function here: it is walked where its name is used. */
  walkFunctionValue(fn: FunctionNode, frontier: Frontier): Frontier {
    return this.scopes.functions.get(fn)?.binding === undefined ? this.walkFunction(fn, frontier) : frontier;
  }

  add(part: DraftPart, frontier: Frontier): DraftNode {
    return this.draft.add(part, this.#container, frontier);
  }

  within(container: DraftNode, body: (entry: Frontier) => Frontier): Frontier {
    const outer = this.#container;
    this.#container = container;
    const passed = body([{ from: container, entry: true }]);
    this.#container = outer;
    return passed;
  }

  breakable(target: BreakTarget, body: () => Frontier): Frontier {
    this.#state.targets.push(target);
    const passed = body();
    this.#state.targets.pop();
    return [...passed, ...target.breaks];
  }

  leave(kind: "return" | "throw" | "break" | "continue", label: string | undefined, frontier: Frontier): Frontier {
    const { guards, catches, returns, targets } = this.#state;
    const handler = kind === "throw" ? catches.at(-1) : undefined;
    if (handler !== undefined) {
      pushAll(handler, frontier);
      return [];
    }
    pushAll(guards.at(-1) ?? [], frontier);
    if (kind === "return" && guards.length === 0) pushAll(returns, frontier);
    if (kind === "break") {
      const target = targets.findLast(({ labels, plain }) => (label === undefined ? plain : labels.includes(label)));
      pushAll(target?.breaks ?? [], frontier);
    }
    return [];
  }

  guarded(body: () => Frontier): Collected {
    return collect(this.#state.guards, body);
  }

  catching(body: () => Frontier): Collected {
    return collect(this.#state.catches, body);
  }

  returnFrom(frontier: Frontier): void {
    this.leave("return", undefined, frontier);
  }

  labelsOf(node: Node): readonly string[] {
    const labels: string[] = [];
    for (let parent = node.parent; parent?.type === "LabeledStatement"; parent = parent.parent) {
      labels.push(parent.label.name);
    }
    return labels;
  }
}

function collect(collectors: OpenEdge[][], body: () => Frontier): Collected {
  const edges: OpenEdge[] = [];
  collectors.push(edges);
  const frontier = body();
  collectors.pop();
  return { frontier, edges };
}

function createState(): FunctionState {
  return { returns: [], targets: [], guards: [], catches: [] };
}

const HANDLERS: ByType<readonly [StaticStructureBuilder, Frontier], Frontier> = {
  IfStatement: walkIf,
  ConditionalExpression: walkConditional,
  LogicalExpression: walkLogical,
  SwitchStatement: walkSwitch,
  TryStatement: walkTry,
  ForStatement: walkLoop,
  ForInStatement: walkLoop,
  ForOfStatement: walkLoop,
  WhileStatement: walkLoop,
  DoWhileStatement: walkLoop,
  CallExpression: walkCall,
  VariableDeclarator: walkDeclarator,
  Identifier: (node, flow, frontier) => flow.walkName(node, frontier),
  FunctionDeclaration: (_, __, frontier) => frontier,
  FunctionExpression: (node, flow, frontier) => (isFunction(node) ? flow.walkFunctionValue(node, frontier) : frontier),
  ArrowFunctionExpression: (node, flow, frontier) => flow.walkFunctionValue(node, frontier),
  AssignmentExpression: (node, flow, frontier) =>
    ["&&=", "||=", "??="].includes(node.operator) && !isFunction(node.right)
      ? walkLogical(node, flow, frontier)
      : flow.walkAll([node.left, node.right], frontier),
  LabeledStatement(node, flow, frontier) {
    // Loops and switches read their labels themselves.
    if (node.body.type !== "BlockStatement") return flow.walk(node.body, frontier);
    const target: BreakTarget = { labels: flow.labelsOf(node.body), plain: false, breaks: [] };
    return flow.breakable(target, () => flow.walk(node.body, frontier));
  },
  ReturnStatement: (node, flow, frontier) => flow.leave("return", undefined, flow.walk(node.argument, frontier)),
  ThrowStatement: (node, flow, frontier) => flow.leave("throw", undefined, flow.walk(node.argument, frontier)),
  BreakStatement: (node, flow, frontier) => flow.leave("break", node.label?.name, frontier),
  ContinueStatement: (node, flow, frontier) => flow.leave("continue", node.label?.name, frontier),
};
