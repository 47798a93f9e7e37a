import type { Binding } from "./bindings.ts";
import type { Scopes } from "./scopes.ts";
import { findWaitingCall } from "./started-lists.ts";
import {
  type ByType,
  type Entering,
  isFunction,
  type Node,
  type NodeOf,
  pushAll,
  type TreeVisitor,
} from "./syntax-tree.ts";

const BREAKABLE: ReadonlySet<string> = new Set<Node["type"]>([
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "WhileStatement",
  "DoWhileStatement",
]);

/** Which parts of a program matter to its structure. */
export class Activity implements TreeVisitor {
  /** Contains calls, its own or those of functions it uses. */
  readonly #active = new Set<Node>();
  /** Can leave the statement list it is in. */
  readonly #exits = new Set<Node>();

  enter(type: Node["type"]): Entering | undefined {
    return this.#entering[type] as Entering | undefined;
  }

  readonly #entering: ByType<readonly [], void> = {
    ReturnStatement: (node) => this.#markExit(node, isNoTarget),
    ThrowStatement: (node) => this.#markExit(node, isNoTarget),
    BreakStatement: (node) => this.#markJump(node),
    ContinueStatement: (node) => this.#markJump(node),
  };

  isActive(node: Node | null | undefined): boolean {
    return node !== null && node !== undefined && this.#active.has(node);
  }

  canExit(node: Node | null | undefined): boolean {
    return node !== null && node !== undefined && this.#exits.has(node);
  }

  /** From calls up to the program, and from a function or a list of calls that has a name to where the name is used. */
  markCalls(sites: Iterable<Node>, scopes: Scopes): void {
    const left = [...sites];
    for (let site = left.pop(); site !== undefined; site = left.pop()) {
      let node: Node | null | undefined = site;
      while (node && !this.#active.has(node)) {
        this.#active.add(node);
        const binding: Binding | undefined = isFunction(node) ? scopes.functions.get(node)?.binding : undefined;
        if (binding !== undefined) pushAll<Node>(left, binding.reads);
        const waiting = node.type === "VariableDeclarator" ? findWaitingCall(node) : undefined;
        if (waiting !== undefined) pushAll<Node>(left, waiting.arguments.slice(0, 1));
        node = binding === undefined ? node.parent : undefined;
      }
    }
  }

  #markJump(node: NodeOf<"BreakStatement" | "ContinueStatement">): void {
    const { type, label } = node;
    const isTarget = (target: Node): boolean => {
      if (label !== null) return target.type === "LabeledStatement" && target.label.name === label.name;
      return BREAKABLE.has(target.type) || (type === "BreakStatement" && target.type === "SwitchStatement");
    };
    this.#markExit(node, isTarget);
  }

  #markExit(from: Node, isTarget: (node: Node) => boolean): void {
    let node: Node | null | undefined = from;
    while (node && !isFunction(node) && !isTarget(node)) {
      this.#exits.add(node);
      node = node.parent;
    }
  }
}

const isNoTarget = (): boolean => false;
