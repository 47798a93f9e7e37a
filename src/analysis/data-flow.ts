import type { Binding, FunctionInfo, Scopes, Write } from "./scopes.ts";
import {
  childrenOf,
  type FunctionNode,
  isFunction,
  methodOf,
  type Node,
  type NodeOf,
  pushAll,
  pushChildren,
} from "./syntax-tree.ts";
import type { ValueFlow } from "./value-flow.ts";
import type { Site } from "./values.ts";

/** Beyond this many sources a value is a mixture of everything; also bounds the work. */
const MAX_SOURCES = 64;

/** Methods whose callbacks get no value of the object. */
const WITHOUT_VALUE = new Set(["catch", "finally"]);

/** Something data passes through: a variable, what a function returns, or an expression whose elements callbacks get. */
type Carrier = Binding | FunctionInfo | Node;

/** Most stay empty. */
interface Flow {
  sites: Set<Site> | undefined;
  readonly readers: Flow[];
}

/** Which calls' results can be in the value of an expression; through any number of variables, functions and callbacks. */
export class DataFlow {
  readonly #scopes: Scopes;
  readonly #values: ValueFlow;
  readonly #flows = new Map<Carrier, Flow>();
  readonly #unscanned: Carrier[] = [];

  constructor(scopes: Scopes, values: ValueFlow) {
    this.#scopes = scopes;
    this.#values = values;
  }

  /** Without those that read nothing. */
  resolve(expressions: readonly Node[]): ReadonlyMap<Node, ReadonlySet<Site>> {
    const answers = new Map<Node, Flow>();
    for (const node of expressions) {
      if (answers.has(node)) continue;
      const flow = createFlow();
      answers.set(node, flow);
      this.#scan([node], flow);
    }
    for (let next = this.#unscanned.pop(); next !== undefined; next = this.#unscanned.pop()) {
      this.#scan(this.#sourcesOf(next), this.#flowOf(next));
    }
    spread([...answers.values(), ...this.#flows.values()]);
    const found = new Map<Node, ReadonlySet<Site>>();
    for (const [node, { sites }] of answers) if (sites !== undefined) found.set(node, sites);
    return found;
  }

  #flowOf(carrier: Carrier): Flow {
    const known = this.#flows.get(carrier);
    if (known !== undefined) return known;
    const flow = createFlow();
    this.#flows.set(carrier, flow);
    this.#unscanned.push(carrier);
    return flow;
  }

  /** Finds what the expressions read and lets it flow into `into`. */
  #scan(expressions: readonly Node[], into: Flow): void {
    const left = [...expressions];
    for (let node = left.pop(); node !== undefined; node = left.pop()) {
      const site = this.#siteOf(node);
      if (site !== undefined) (into.sites ??= new Set()).add(site);
      else if (isFunction(node)) this.#read(this.#scopes.functions.get(node), into);
      else if (node.type === "Identifier") this.#readName(node, into);
      else if (node.type === "CallExpression") pushAll(left, this.#partsOfCall(node, into));
      else pushChildren(left, node);
    }
  }

  /** The one call that an expression is known to be a part of the result of. */
  #siteOf(node: Node): Site | undefined {
    const value = this.#values.valueOf(node);
    return value?.kind === "result" ? value.site : this.#values.sites.get(node);
  }

  #read(carrier: Carrier | undefined, into: Flow): void {
    if (carrier !== undefined) this.#flowOf(carrier).readers.push(into);
  }

  #readName(node: NodeOf<"Identifier">, into: Flow): void {
    const binding = this.#scopes.bindingOf(node);
    if (binding === undefined || binding.builtin) return;
    this.#read(binding, into);
    if (binding.fn !== undefined) this.#read(this.#scopes.functions.get(binding.fn), into);
  }

  #partsOfCall(node: NodeOf<"CallExpression">, into: Flow): Node[] {
    const { callee, arguments: given } = node;
    if (this.#scopes.calledFunction(callee) !== undefined) return [callee];
    if (callee.type !== "MemberExpression" || !given.some(isFunction)) return childrenOf(node);
    // What `then` gives is what its callbacks make of it.
    if (methodOf(node) !== "then") this.#read(callee.object, into);
    return given;
  }

  #sourcesOf(carrier: Carrier): readonly Node[] {
    if ("returns" in carrier) return carrier.returns;
    if ("type" in carrier) return [carrier];
    return [...carrier.inflows, ...carrier.writes.flatMap((write) => this.#sourcesOfWrite(write))];
  }

  #sourcesOfWrite({ kind, target, source }: Write): Node[] {
    if (kind !== "parameter") return source === undefined ? [] : [source];
    let parameter: Node = target;
    while (parameter.parent && !isFunction(parameter.parent)) parameter = parameter.parent;
    const fn = parameter.parent as FunctionNode;
    const index = fn.params.indexOf(parameter as FunctionNode["params"][number]);
    return this.#argumentsFor(fn, index);
  }

  /** What callers hand over; a callback gets something of the object whose method calls it. */
  #argumentsFor(fn: FunctionNode, index: number): Node[] {
    const uses: Node[] = fn.parent?.type === "CallExpression" ? [fn] : [];
    pushAll<Node>(uses, this.#scopes.functions.get(fn)?.binding?.reads ?? []);
    return uses.flatMap((use) => {
      const call = use.parent;
      if (call?.type !== "CallExpression") return [];
      if (call.callee === use) return call.arguments.slice(index, index + 1);
      const isGiven = call.callee.type === "MemberExpression" && !WITHOUT_VALUE.has(methodOf(call) ?? "");
      return isGiven ? [(call.callee as NodeOf<"MemberExpression">).object] : [];
    });
  }
}

function createFlow(): Flow {
  return { sites: undefined, readers: [] };
}

/** Passes on until nothing changes; each flow grows a bounded number of times. */
function spread(flows: Flow[]): void {
  const changed = new Set(flows.filter(({ sites }) => sites !== undefined));
  for (const flow of changed) {
    changed.delete(flow);
    const { sites } = flow;
    if (sites === undefined) continue;
    for (const reader of flow.readers) if (addSites((reader.sites ??= new Set()), sites)) changed.add(reader);
  }
}

function addSites(to: Set<Site>, from: ReadonlySet<Site>): boolean {
  const before = to.size;
  for (const site of from) if (to.size < MAX_SOURCES) to.add(site);
  return to.size > before;
}
