import { isActive } from "./activity.ts";
import { caseOutcome, neededOutcome } from "./branch-flow.ts";
import type { DraftNode } from "./draft.ts";
import { findIteration } from "./iteration.ts";
import { WRAPPER_START } from "./source-text.ts";
import type { Scopes } from "./scopes.ts";
import type { SourceText } from "./source-text.ts";
import {
  type ByType,
  type FunctionNode,
  handlerOf,
  isFunction,
  type LoopNode,
  type Node,
  type NodeOf,
  type TreeVisitor,
  type Wrapper,
} from "./syntax-tree.ts";
import type { TextEdits } from "./text-edits.ts";

/** Ranges of expressions including their parentheses and types. */
export class OuterRanges implements TreeVisitor {
  readonly #outermost = new Map<Node, Node>();

  unwrap(wrapper: Wrapper, inner: Node): void {
    if (!this.#outermost.has(inner)) this.#outermost.set(inner, wrapper);
  }

  of(node: Node): Node {
    return this.#outermost.get(node) ?? node;
  }
}

export interface InstrumentParts {
  readonly nodes: readonly DraftNode[];
  readonly scopes: Scopes;
  readonly source: SourceText;
  readonly outer: OuterRanges;
  readonly edits: TextEdits;
}

/** Declares the implicit names and reads parameters from `args` when the program starts. */
export function declareNames(parameters: readonly string[], variables: readonly string[], edits: TextEdits): void {
  const taken = parameters.length === 0 ? "" : `let {${parameters.join(",")}}=args??{};`;
  const declared = variables.length === 0 ? "" : `let ${variables.join(",")};`;
  edits.insert(WRAPPER_START.length - 1, taken + declared);
}

/** Marks calls, decisions, loops and functions, without adding lines. */
export function instrument(parts: InstrumentParts): void {
  new Instrumentation(parts).run();
}

class Instrumentation {
  readonly #parts: InstrumentParts;
  /** Names of variables that hold the path of an iteration or invocation, by loop or function. */
  readonly #paths = new Map<Node, string>();

  constructor(parts: InstrumentParts) {
    this.#parts = parts;
  }

  run(): void {
    const { nodes, scopes } = this.#parts;
    const ids = new Map<Node, string>();
    for (const { type, syntax, id } of nodes) if (type === "loop") ids.set(repeatedPart(syntax), id);
    let functions = 0;
    for (const { node } of scopes.functions.values()) {
      if (!isActive(node) || ids.has(node)) continue;
      functions += 1;
      ids.set(node, `h${functions}`);
    }
    for (const [node, id] of ids) this.#paths.set(node, `__pml_${id}`);
    for (const [node, id] of ids) this.#markStart(node, id);
    for (const node of nodes) this.#mark(node);
  }

  #mark(node: DraftNode): void {
    if (node.site?.callee !== undefined) this.#markCall(node, node.site.callee);
    else if (node.type === "decision" || node.type === "try") handlerOf(this.#marks, node.syntax)?.(node.syntax, node);
  }

  /** Returns the path at a node: that of its innermost iteration or invocation. */
  #pathAt(node: Node): string {
    let inner = node;
    for (let outer = node.parent; outer; outer = outer.parent) {
      const path = this.#paths.get(outer);
      if (path !== undefined && (outer as LoopNode).body === inner) return path;
      inner = outer;
    }
    return '""';
  }

  #head(method: string, { id, syntax }: DraftNode): string {
    return `__pml.${method}("${id}",${this.#pathAt(syntax)},`;
  }

  /** Marks the start of a loop or function. A callback passed by name has no start to mark. */
  #markStart(node: Node, id: string): void {
    const start = `const __pml_${id}=__pml.loop("${id}",${this.#pathAt(node)});`;
    if (isFunction(node)) this.#markFunction(node, start);
    else if ("body" in node) this.#markBody((node as LoopNode).body, start);
  }

  #markBody(body: Node, start: string): void {
    if (body.type === "BlockStatement") this.#parts.edits.insert(body.start + 1, start);
    else this.#parts.edits.wrap(body, `{${start}`, "}");
  }

  #markFunction({ body }: FunctionNode, start: string): void {
    if (body === null) return;
    if (body.type !== "BlockStatement") {
      this.#parts.edits.wrap(this.#parts.outer.of(body), `{${start}return `, "}");
      return;
    }
    const directive = body.body.findLast((statement) => "directive" in statement && statement.directive);
    if (directive === undefined) this.#parts.edits.insert(body.start + 1, start);
    else this.#parts.edits.insert(directive.end, `;${start}`);
  }

  #markCall(node: DraftNode, callee: Node): void {
    const { parent } = callee;
    const isNew = parent?.type === "NewExpression" && parent.callee === callee;
    const before = `${isNew ? "(" : ""}${this.#head("call", node)}`;
    this.#parts.edits.wrap(callee, before, `)${isNew ? ")" : keepShortCircuit(callee)}`);
  }

  #markTest(test: Node, before: string): void {
    const isList = test.type === "SequenceExpression";
    this.#parts.edits.wrap(test, isList ? `${before}(` : before, isList ? "))" : ")");
  }

  readonly #marks: ByType<readonly [DraftNode], void> = {
    IfStatement: ({ test }, node) => this.#markTest(test, this.#head("decide", node)),
    ConditionalExpression: ({ test }, node) => this.#markTest(test, this.#head("decide", node)),
    LogicalExpression: ({ left, operator }, node) =>
      this.#markTest(left, this.#head(operator === "??" ? "nullish" : "decide", node)),
    AssignmentExpression: ({ right, operator }, node) =>
      this.#parts.edits.wrap(right, `(${this.#took(node, neededOutcome(operator))},`, ")"),
    TryStatement: ({ handler }, node) =>
      handler && this.#parts.edits.insert(handler.body.start + 1, `${this.#took(node, "catch")};`),
    SwitchStatement: (syntax, node) => this.#markSwitch(syntax, node),
  };

  #took(node: DraftNode, outcome: string): string {
    return `${this.#head("took", node)}${JSON.stringify(outcome)})`;
  }

  /** Reports the case the program jumped to, not the cases it falls through to. */
  #markSwitch(syntax: NodeOf<"SwitchStatement">, node: DraftNode): void {
    const { edits, source } = this.#parts;
    const entering = `__pml_${node.id}`;
    const report = (outcome: string): string => `${entering}&&${this.#took(node, outcome)};${entering}=0;`;
    edits.wrap(syntax, `{let ${entering}=1;`, "}");
    for (const each of syntax.cases) {
      edits.insert(each.consequent[0]?.start ?? each.end, report(caseOutcome(each, { source })));
    }
    if (syntax.cases.every(({ test }) => test !== null)) edits.insert(syntax.end - 1, `;default:${report("default")}`);
  }
}

/** Returns the part of a loop that runs in each iteration: the loop itself, or the callback of an iterating method. */
function repeatedPart(syntax: Node): Node {
  return (syntax.type === "CallExpression" ? findIteration(syntax)?.callback : undefined) ?? syntax;
}

/** Wrapping a part of `a?.b.c` ends its optional chain here; this suffix keeps the rest short-circuited. */
function keepShortCircuit(callee: Node): string {
  const { parent } = callee;
  if (!parent || !("optional" in parent) || parent.optional === true || !hasOptionalLink(callee)) return "";
  if (parent.type === "CallExpression" && parent.callee === callee) return "?.";
  if (parent.type !== "MemberExpression" || parent.object !== callee) return "";
  return parent.computed ? "?." : "?";
}

function hasOptionalLink(node: Node): boolean {
  let link = node;
  while (link.type === "MemberExpression" || link.type === "CallExpression") {
    if (link.optional) return true;
    link = link.type === "MemberExpression" ? link.object : link.callee;
  }
  return false;
}
