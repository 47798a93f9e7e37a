import { formatToolId } from "../catalogue/tool-id.ts";
import { findMemberKey, findString } from "./constants.ts";
import { type Binding, bindingOf, isReplaced } from "./bindings.ts";
import type { Scopes } from "./scopes.ts";
import type { ToolFacts, ToolCatalogue } from "./structure.ts";
import {
  type ByType,
  handlerOf,
  isFunction,
  isMember,
  methodOf,
  type Node,
  type NodeOf,
  staticKey,
} from "./syntax-tree.ts";
import { isAccess, memberOf, type Site, type Value } from "./values.ts";

/** Positions that only inspect a value. */
const HARMLESS: ReadonlySet<string> = new Set<Node["type"]>([
  "UnaryExpression",
  "UpdateExpression",
  "BinaryExpression",
  "IfStatement",
  "WhileStatement",
  "DoWhileStatement",
  "ForStatement",
  "ExpressionStatement",
]);

/** The value is a field of the node: passes read it all the time, and a lookup in a `Map` is slow. */
type ValuedNode = Node & { known?: Value };

/** Returns the static value of an expression. Valid once `ValueFlow` has run. */
export function valueOf(node: ValuedNode): Value | undefined {
  return node.known;
}

/** A fact about a parameter, seen at one place its value reaches. */
export type ParameterFact = { readonly path: readonly string[] } & (
  | { readonly kind: "used"; readonly node: Node }
  /** A pattern destructures or names it. */
  | { readonly kind: "bound"; readonly pattern: Node }
  | { readonly kind: "defaulted"; readonly value: Node }
  /** A variable holds it until it gets another value, by a rule that is not followed. */
  | { readonly kind: "replaced"; readonly node: Node }
  /** `args.user?.name`: the user can be missing. */
  | { readonly kind: "optional"; readonly node: Node }
);

/**
 * Follows the globals of the sandbox (`mcp`, `capabilities`, `args`) and the results of calls to where they are used:
 * through properties, constants, patterns and parameters of local functions. Visits each expression once.
 */
export class ValueFlow {
  readonly sites = new Map<Node, Site>();
  readonly parameterFacts: ParameterFact[] = [];
  readonly #scopes: Scopes;
  readonly #catalogue: ToolCatalogue;
  readonly #sameArguments = new Map<Binding, boolean[]>();
  readonly #left: { readonly node: Node; readonly value: Value }[] = [];

  constructor(scopes: Scopes, catalogue: ToolCatalogue) {
    this.#scopes = scopes;
    this.#catalogue = catalogue;
  }

  run(implicitParameters: readonly string[]): void {
    const { free } = this.#scopes;
    this.#start(this.#scopes.builtin("mcp")?.reads, { kind: "mcp" });
    this.#start(this.#scopes.builtin("capabilities")?.reads, { kind: "capabilities" });
    this.#start(this.#scopes.builtin("args")?.reads, { kind: "args", path: [] });
    this.#start(free.get("globalThis")?.reads, { kind: "global" });
    for (const name of implicitParameters) this.#start(free.get(name)?.reads, { kind: "args", path: [name] });
    for (let next = this.#left.pop(); next !== undefined; next = this.#left.pop()) this.#follow(next.node, next.value);
  }

  #start(nodes: readonly Node[] | undefined, value: Value): void {
    for (const node of nodes ?? []) this.#left.push({ node, value });
  }

  /** Follows a value one step from an expression to its parent. */
  #follow(node: ValuedNode, value: Value): void {
    if (node.known !== undefined) return;
    node.known = value;
    const { parent } = node;
    if (parent && handlerOf(this.#steps, parent)?.(parent, node, value) !== true) this.#use(node, value);
  }

  /** Steps by the type of the parent; the value goes no further unless the step returns true. */
  readonly #steps: ByType<readonly [Node, Value], boolean> = {
    MemberExpression: (parent, node, value) => parent.object === node && this.#member(parent, value),
    ChainExpression: (parent, _, value) => this.#go(parent, value),
    AwaitExpression: (parent, _, value) => this.#go(parent, value),
    // `args ?? {}` is `args`, which always exists
    LogicalExpression: (parent, node, value) =>
      isWholeArgs(value) && parent.left === node && parent.operator !== "&&" && this.#go(parent, value),
    SequenceExpression: (parent, node, value) => parent.expressions.at(-1) === node && this.#go(parent, value),
    VariableDeclarator: (parent, node, value) => this.#bind(parent.id, value, node),
    AssignmentExpression: (parent, node, value) =>
      parent.operator === "=" && parent.right === node && this.#bind(parent.left, value, node),
    CallExpression: (parent, node, value) => parent.callee !== node && this.#argument(parent, node, value),
    ArrowFunctionExpression: (parent, node, value) => parent.body === node && this.#returned(parent, value),
    ArrayExpression: (parent, node, value) => value.kind === "result" && this.#together(parent, node, value),
  };

  #go(node: Node, value: Value): true {
    this.#left.push({ node, value });
    return true;
  }

  #member(member: NodeOf<"MemberExpression">, value: Value): boolean {
    const key = findMemberKey(member, this.#scopes);
    if (value.kind === "result" && key === "then" && this.#then(member, value)) return true;
    if (value.kind === "args" && member.optional) {
      this.parameterFacts.push({ kind: "optional", path: value.path, node: member });
    }
    const next = memberOf(value, key);
    return next !== undefined && this.#go(member, next);
  }

  /** Follows the result in `call().then((result) => …)`. */
  #then(member: NodeOf<"MemberExpression">, value: Value): boolean {
    const call = member.parent;
    if (call?.type !== "CallExpression" || call.callee !== member) return false;
    const [callback] = call.arguments;
    if (callback === undefined || !isFunction(callback)) return false;
    const [parameter] = callback.params;
    if (parameter !== undefined) this.#bind(parameter, value, callback);
    return true;
  }

  /** The return value of a `then` callback is the input of the next one. */
  #returned(fn: NodeOf<"ArrowFunctionExpression">, value: Value): boolean {
    const call = fn.parent;
    const isThen = call?.type === "CallExpression" && call.arguments[0] === fn && methodOf(call) === "then";
    return isThen && value.kind === "result" && this.#go(call, value);
  }

  /** Follows the results in `const [a, b] = await Promise.all([call(), call()])`. */
  #together(list: NodeOf<"ArrayExpression">, node: Node, value: Value): boolean {
    const pattern = list.parent ? findAwaitedPattern(list.parent) : undefined;
    const index = list.elements.indexOf(node as (typeof list.elements)[number]);
    if (pattern?.type !== "ArrayPattern" || hasSpread(list.elements.slice(0, index))) return false;
    const target = pattern.elements[index] ?? undefined;
    return target !== undefined && this.#bind(target, value, node);
  }

  #argument(call: NodeOf<"CallExpression">, node: Node, value: Value): boolean {
    const index = call.arguments.indexOf(node as (typeof call.arguments)[number]);
    const fn = this.#scopes.calledFunction(call.callee);
    const parameter = fn?.params[index];
    return parameter !== undefined && this.#sameInAllCalls(call, index) && this.#bind(parameter, value, node);
  }

  /** True if every call of the function passes the same value at this index. */
  #sameInAllCalls(call: NodeOf<"CallExpression">, index: number): boolean {
    const binding = bindingOf(call.callee);
    if (binding === undefined) return isPlainUpTo(call, index);
    const known = this.#sameArguments.get(binding)?.[index];
    if (known !== undefined) return known;
    const own = bindingOf(call.arguments[index]);
    const same = binding.reads.every(({ parent }, _, { length }) => {
      if (parent?.type !== "CallExpression" || bindingOf(parent.callee) !== binding) return false;
      if (!isPlainUpTo(parent, index)) return false;
      return length === 1 || (own !== undefined && bindingOf(parent.arguments[index]) === own);
    });
    const answers = this.#sameArguments.get(binding) ?? [];
    answers[index] = same;
    this.#sameArguments.set(binding, answers);
    return same;
  }

  #bind(pattern: Node, value: Value, source: Node): true {
    if (value.kind === "args") this.parameterFacts.push({ kind: "bound", path: value.path, pattern });
    if (pattern.type === "Identifier") this.#bindName(pattern, value, source);
    else if (pattern.type === "ObjectPattern") this.#bindObject(pattern, value, source);
    else if (pattern.type === "ArrayPattern") this.#bindArray(pattern, value, source);
    else if (pattern.type === "TSParameterProperty") this.#bind(pattern.parameter, value, source);
    else if (pattern.type === "AssignmentPattern" && !isAccess(value)) {
      if (value.kind === "args") {
        this.parameterFacts.push({ kind: "defaulted", path: value.path, value: pattern.right });
      }
      this.#bind(pattern.left, value, source);
    } else this.#use(source, value);
    return true;
  }

  #bindName(name: NodeOf<"Identifier">, value: Value, source: Node): void {
    const binding = bindingOf(name);
    if (binding?.writes.length === 1 && !binding.builtin) this.#start(binding.reads, value);
    else if (value.kind === "args" && !isWholeArgs(value) && binding !== undefined && isReplaced(binding)) {
      this.parameterFacts.push({ kind: "replaced", path: value.path, node: source });
    } else this.#use(source, value);
  }

  #bindObject(pattern: NodeOf<"ObjectPattern">, value: Value, source: Node): void {
    for (const property of pattern.properties) {
      if (property.type === "RestElement") this.#use(source, value);
      else {
        const key = property.computed ? findString(property.key, this.#scopes) : staticKey(property);
        const member = memberOf(value, key);
        if (member === undefined) this.#use(source, value);
        else this.#bind(property.value, member, source);
      }
    }
  }

  #bindArray(pattern: NodeOf<"ArrayPattern">, value: Value, source: Node): void {
    if (value.kind !== "result") this.#use(source, value);
    else {
      pattern.elements.forEach((element, index) => {
        if (element === null || element.type === "RestElement") return;
        this.#bind(element, { ...value, path: `${value.path}[${index}]` }, source);
      });
    }
  }

  /** Records the final use of a value: a call, an argument or an inspection. */
  #use(node: Node, value: Value): void {
    if (value.kind === "args") this.parameterFacts.push({ kind: "used", path: value.path, node });
    if (!isAccess(value) || this.sites.has(node)) return;
    const { parent } = node;
    const call = parent?.type === "CallExpression" && parent.callee === node ? parent : undefined;
    if (call === undefined && parent && isHarmless(node, parent)) return;
    const site = this.#createSite(node, value, call);
    this.sites.set(site.node, site);
    if (call !== undefined) this.#go(call, { kind: "result", site, path: "" });
  }

  #createSite(node: Node, value: Value, call: NodeOf<"CallExpression"> | undefined): Site {
    const place = { node: call ?? node, ...(call !== undefined && { call }) };
    if (value.kind === "tool") {
      const { server, tool } = value;
      if (server === undefined || tool === undefined) return { kind: "dynamic", callee: node, ...place };
      const known: ToolFacts = this.#catalogue.findTool(server, tool) ?? { id: formatToolId(server, tool) };
      return { kind: "task", name: known.id, tool: known, callee: node, ...place };
    }
    if (value.kind === "capability" && (call !== undefined || isCallback(node))) {
      const computed = value.names.includes(undefined);
      if (computed) return { kind: "dynamic", callee: node, ...place };
      return { kind: "capability", name: value.names.join(":"), callee: node, ...place };
    }
    return { kind: "dynamic", ...place, ...(call !== undefined && { callee: node }) };
  }
}

function isWholeArgs(value: Value): boolean {
  return value.kind === "args" && value.path.length === 0;
}

/** Returns the pattern that receives the results of `await Promise.all(…)`. */
function findAwaitedPattern(call: Node): Node | undefined {
  if (call.type !== "CallExpression" || !isMember(call.callee, "Promise", "all")) return undefined;
  const declaration = call.parent?.type === "AwaitExpression" ? call.parent.parent : undefined;
  return declaration?.type === "VariableDeclarator" ? declaration.id : undefined;
}

function isHarmless(node: Node, parent: Node): boolean {
  if (parent.type === "ConditionalExpression") return parent.test === node;
  if (parent.type === "AssignmentExpression" || (parent.type === "LogicalExpression" && parent.operator === "&&")) {
    return parent.left === node;
  }
  return HARMLESS.has(parent.type);
}

/** True for a function passed to a method that calls it, as in `texts.map(capabilities.summarize)`. */
function isCallback({ parent }: Node): boolean {
  return parent?.type === "CallExpression" && methodOf(parent) !== undefined;
}

/** True if no spread precedes the argument. */
function isPlainUpTo({ arguments: given }: NodeOf<"CallExpression">, index: number): boolean {
  return !hasSpread(given.slice(0, index));
}

function hasSpread(nodes: readonly (Node | null)[]): boolean {
  return nodes.some((node) => node?.type === "SpreadElement");
}
