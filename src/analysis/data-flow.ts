import { type Binding, bindingOf, type FunctionInfo, type Write } from "./bindings.ts";
import type { Scopes } from "./scopes.ts";
import {
  type FunctionNode,
  isFunction,
  methodOf,
  type Node,
  type NodeOf,
  pushAll,
  pushChildren,
} from "./syntax-tree.ts";
import { type ValueFlow, valueOf } from "./value-flow.ts";
import type { Site } from "./values.ts";

/** Bounds the work, and the sources of one value: more than this many say nothing useful. */
const MAX_SOURCES = 64;

/** Methods whose callbacks do not receive the value of the object. */
const WITHOUT_VALUE = new Set(["catch", "finally"]);

/** Types whose value contains results but is never a result itself. */
const COMPOSITE: ReadonlySet<string> = new Set<Node["type"]>([
  "ArrayExpression",
  "BinaryExpression",
  "Literal",
  "ObjectExpression",
  "Property",
  "TemplateElement",
  "TemplateLiteral",
]);

/** Passes data on: a variable, the return value of a function, or an expression whose elements callbacks receive. */
type Carrier = Binding | FunctionInfo | Node;

/** Sites that can reach an expression or a carrier; most have none. */
interface Flow {
  sites: Set<Site> | undefined;
  readonly readers: Flow[];
}

/** Finds the calls whose results can reach an expression, through any number of variables, functions and callbacks. */
export class DataFlow {
  readonly #scopes: Scopes;
  readonly #values: ValueFlow;
  readonly #answers = new Map<Node, Flow>();
  readonly #flows = new Map<Carrier, Flow>();
  readonly #unscanned: Carrier[] = [];
  readonly #left: Node[] = [];

  constructor(scopes: Scopes, values: ValueFlow) {
    this.#scopes = scopes;
    this.#values = values;
  }

  /** Accepts questions about these expressions only. */
  resolve(expressions: readonly Node[]): (expression: Node) => ReadonlySet<Site> | undefined {
    for (const node of expressions) {
      if (node.type === "Literal" || this.#answers.has(node)) continue;
      const flow = createFlow();
      this.#answers.set(node, flow);
      this.#left.push(node);
      this.#scan(flow);
    }
    for (let next = this.#unscanned.pop(); next !== undefined; next = this.#unscanned.pop()) {
      this.#pushSources(next);
      this.#scan(this.#flowOf(next));
    }
    this.#spread();
    return (expression) => this.#answers.get(expression)?.sites;
  }

  #flowOf(carrier: Carrier): Flow {
    const known = this.#flows.get(carrier);
    if (known !== undefined) return known;
    const flow = createFlow();
    this.#flows.set(carrier, flow);
    this.#unscanned.push(carrier);
    return flow;
  }

  /** Lets every source of the queued expressions flow into `into`. */
  #scan(into: Flow): void {
    const left = this.#left;
    for (let node = left.pop(); node !== undefined; node = left.pop()) {
      const site = COMPOSITE.has(node.type) ? undefined : this.#siteOf(node);
      if (site !== undefined) (into.sites ??= new Set()).add(site);
      else if (isFunction(node)) this.#read(this.#scopes.functions.get(node), into);
      else if (node.type === "Identifier") this.#readName(node, into);
      else if (node.type === "CallExpression") this.#pushPartsOfCall(node, into);
      else pushChildren(left, node);
    }
  }

  /** Returns the call that an expression, or the value it is a part of, comes from. */
  #siteOf(node: Node): Site | undefined {
    const value = valueOf(node);
    if (value === undefined) return undefined;
    return value.kind === "result" ? value.site : this.#values.sites.get(node);
  }

  #read(carrier: Carrier | undefined, into: Flow): void {
    if (carrier !== undefined) this.#flowOf(carrier).readers.push(into);
  }

  #readName(node: NodeOf<"Identifier">, into: Flow): void {
    const binding = bindingOf(node);
    if (binding === undefined || binding.builtin) return;
    this.#read(binding, into);
    if (binding.fn !== undefined) this.#read(this.#scopes.functions.get(binding.fn), into);
  }

  #pushPartsOfCall(node: NodeOf<"CallExpression">, into: Flow): void {
    const { callee, arguments: given } = node;
    if (this.#scopes.calledFunction(callee) !== undefined) this.#left.push(callee);
    else if (callee.type !== "MemberExpression" || !given.some(isFunction)) pushChildren(this.#left, node);
    else {
      // `then` returns the result of its callbacks, not that of its object.
      if (methodOf(node) !== "then") this.#read(callee.object, into);
      pushAll<Node>(this.#left, given);
    }
  }

  #pushSources(carrier: Carrier): void {
    if ("returns" in carrier) pushAll(this.#left, carrier.returns);
    else if ("type" in carrier) this.#left.push(carrier);
    else {
      pushAll(this.#left, carrier.inflows);
      for (const write of carrier.writes) this.#pushSourcesOfWrite(write);
    }
  }

  #pushSourcesOfWrite({ kind, target, source }: Write): void {
    if (kind !== "parameter") {
      if (source !== undefined) this.#left.push(source);
      return;
    }
    let parameter: Node = target;
    while (parameter.parent && !isFunction(parameter.parent)) parameter = parameter.parent;
    const fn = parameter.parent as FunctionNode;
    const index = fn.params.indexOf(parameter as FunctionNode["params"][number]);
    if (fn.parent?.type === "CallExpression") this.#pushArgument(fn, index);
    for (const use of this.#scopes.functions.get(fn)?.binding?.reads ?? []) this.#pushArgument(use, index);
  }

  /** Queues the argument at `index`. A callback receives elements of the object whose method calls it. */
  #pushArgument(use: Node, index: number): void {
    const call = use.parent;
    if (call?.type !== "CallExpression") return;
    const { callee, arguments: given } = call;
    if (callee === use) pushAll<Node>(this.#left, given.slice(index, index + 1));
    else if (callee.type === "MemberExpression" && !WITHOUT_VALUE.has(methodOf(call) ?? "")) {
      this.#left.push(callee.object);
    }
  }

  /** Propagates sites until nothing changes; each flow grows a bounded number of times. */
  #spread(): void {
    const changed = new Set<Flow>();
    for (const flow of this.#answers.values()) if (flow.sites !== undefined) changed.add(flow);
    for (const flow of this.#flows.values()) if (flow.sites !== undefined) changed.add(flow);
    for (const flow of changed) {
      changed.delete(flow);
      const { sites } = flow;
      if (sites === undefined) continue;
      for (const reader of flow.readers) if (addSites((reader.sites ??= new Set()), sites)) changed.add(reader);
    }
  }
}

function createFlow(): Flow {
  return { sites: undefined, readers: [] };
}

function addSites(to: Set<Site>, from: ReadonlySet<Site>): boolean {
  const before = to.size;
  for (const site of from) if (to.size < MAX_SOURCES) to.add(site);
  return to.size > before;
}
