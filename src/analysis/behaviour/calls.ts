import { bindingOf } from "../bindings.ts";
import { findMemberKey } from "../constants.ts";
import { findIteration } from "../iteration.ts";
import type { Scopes } from "../scopes.ts";
import { type FunctionNode, isFunction, isMember, methodOf, type Node, type NodeOf } from "../syntax-tree.ts";
import type { Site } from "../values.ts";
import { liftArgument, type Place } from "./lift-arguments.ts";
import { outsideList } from "./members.ts";
import { MUTATING_METHODS, PURE_GLOBALS, PURE_METHODS } from "./pure.ts";
import { type CallEffect, type LoopEffect, operation, type Term, UNDEFINED, UnknownConstruct } from "./term.ts";
import type { Trace } from "./trace.ts";

/** The evaluation of what a call consists of. */
export interface Evaluation {
  evaluate(node: Node): Term;
  /** An element of a list or call, which can be spread. */
  element(node: Node): Term;
  /** Binds the parameters of a function and runs its body. */
  apply(fn: FunctionNode, given: readonly Term[]): Term;
}

interface CallParts {
  readonly scopes: Scopes;
  readonly sites: ReadonlyMap<Node, Site>;
  readonly trace: Trace;
  readonly evaluation: Evaluation;
}

/** Evaluates calls: of tools, of local functions, of methods that run through a list, and of everything else. */
export class Calls {
  readonly places: Place[] = [];
  /** The called tools and capabilities, in the order of the program. */
  readonly targets: string[] = [];
  readonly #scopes: Scopes;
  readonly #sites: ReadonlyMap<Node, Site>;
  readonly #trace: Trace;
  readonly #run: Evaluation;

  constructor({ scopes, sites, trace, evaluation }: CallParts) {
    this.#scopes = scopes;
    this.#sites = sites;
    this.#trace = trace;
    this.#run = evaluation;
  }

  call(node: NodeOf<"CallExpression">): Term {
    const site = this.#sites.get(node);
    if (site !== undefined) return this.#callTool(site, node);
    const { callee, arguments: given } = node;
    if (isConsole(callee)) return UNDEFINED;
    if (isMember(callee, "Promise", "all") || isMember(callee, "Promise", "allSettled"))
      return given[0] === undefined ? UNDEFINED : this.#run.evaluate(given[0]);
    const iteration = this.#iterate(node);
    if (iteration !== undefined) return iteration;
    const fn = this.#scopes.calledFunction(callee);
    if (fn !== undefined) return this.#run.apply(fn, this.#given(given));
    return this.#method(node) ?? this.#unknown(node);
  }

  #given(given: readonly Node[]): Term[] {
    return given.map((each) => this.#run.element(each));
  }

  #callTool(site: Site, node: NodeOf<"CallExpression">): Term {
    if (site.name === undefined || site.call !== node) throw new UnknownConstruct("computed tool");
    return this.#emitCall(site, this.#given(node.arguments));
  }

  #emitCall({ kind, name = "", tool }: Site, given: readonly Term[]): Term {
    const target = kind === "task" ? name : `capability ${name}`;
    const role = { call: this.targets.length, target, path: [], schema: tool?.inputSchema };
    this.targets.push(target);
    const args = given.map((term) => liftArgument(term, role, this.places));
    const call: CallEffect = { kind: "call", target, args };
    this.#trace.emit(call);
    return { kind: "result", of: call };
  }

  #iterate(node: NodeOf<"CallExpression">): Term | undefined {
    const iteration = findIteration(node);
    if (iteration === undefined) return undefined;
    const method = methodOf(node) ?? "";
    const { callback, over } = iteration;
    const list = this.#run.evaluate(over);
    const site = this.#sites.get(callback);
    const fn = isFunction(callback) ? callback : bindingOf(callback)?.fn;
    if (site === undefined && fn === undefined) return undefined;
    const others = node.arguments
      .filter((each) => each !== callback && each !== over)
      .map((each) => this.#run.element(each));
    const run = (items: readonly Term[]): Term =>
      site === undefined ? this.#run.apply(fn as FunctionNode, items) : this.#emitCall(site, items.slice(0, 1));
    return this.#iterateOver(list, { method, others, run });
  }

  #iterateOver(
    list: Term,
    {
      method,
      others,
      run,
    }: { readonly method: string; readonly others: readonly Term[]; readonly run: (items: readonly Term[]) => Term },
  ): Term {
    const isEach = EACH_METHODS.has(method);
    const outside = isEach ? outsideList(list) : undefined;
    if (outside !== undefined) return run([outside, operation("index"), list]);
    const index = this.#trace.depth;
    const items: Term[] = [0, 1, 2].map((position) => ({ kind: "item", depth: index, index: position }));
    let value: Term = UNDEFINED;
    const body = this.#trace.deeper(() => this.#trace.capture(() => (value = run(items))));
    if (body.length === 0) return operation(`${method}()`, list, { kind: "lambda", value }, ...others);
    const loop: LoopEffect = {
      kind: "loop",
      name: isEach ? "each" : method,
      over: list,
      body,
      value: isEach ? undefined : value,
    };
    this.#trace.emit(loop);
    return { kind: "result", of: loop };
  }

  #method(node: NodeOf<"CallExpression">): Term | undefined {
    const { callee, arguments: given } = node;
    if (callee.type === "Identifier" && PURE_GLOBALS.has(callee.name) && bindingOf(callee) === undefined)
      return operation(callee.name, ...this.#given(given));
    if (callee.type !== "MemberExpression") return undefined;
    const key = findMemberKey(callee, this.#scopes);
    if (key === undefined) return undefined;
    if (MUTATING_METHODS.has(key) && this.#trace.fill(callee.object, this.#given(given))) return UNDEFINED;
    if (key === "then") return this.#then(callee.object, given);
    const owner = callee.object.type === "Identifier" ? callee.object.name : "";
    if (PURE_GLOBALS.has(`${owner}.${key}`)) return operation(`${owner}.${key}`, ...this.#given(given));
    return PURE_METHODS.has(key)
      ? operation(`${key}()`, this.#run.evaluate(callee.object), ...this.#given(given))
      : undefined;
  }

  #then(object: Node, given: readonly Node[]): Term {
    const [callback] = given;
    if (callback === undefined || !isFunction(callback) || given.length > 1) throw new UnknownConstruct("then");
    return this.#run.apply(callback, [this.#run.evaluate(object)]);
  }

  #unknown({ callee, arguments: given }: NodeOf<"CallExpression">): Term {
    const term = operation("call", this.#run.evaluate(callee), ...this.#given(given));
    this.#trace.emit({ kind: "do", term });
    return term;
  }
}

const EACH_METHODS: ReadonlySet<string> = new Set(["map", "forEach", "flatMap", "from", "fromAsync"]);

function isConsole(callee: Node): boolean {
  return callee.type === "MemberExpression" && callee.object.type === "Identifier" && callee.object.name === "console";
}
