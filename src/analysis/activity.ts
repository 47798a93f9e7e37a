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

/** Flags are fields of the node: every pass reads them, and a lookup in a `Set` of nodes is slow. */
type FlaggedNode = Node & { isActive?: true; canExit?: true };

/** True for a node that contains a call, directly or through a function it uses. Valid once `markActive` has run. */
export function isActive(node: FlaggedNode | null | undefined): boolean {
  return node?.isActive === true;
}

/** True for a node that can leave the statement list it is in. */
export function canExit(node: FlaggedNode | null | undefined): boolean {
  return node?.canExit === true;
}

/**
 * Marks each call and all its ancestors. Marking continues where the name of an active function or list of calls is
 * used.
 */
export function markActive(sites: Iterable<Node>, scopes: Scopes): void {
  const left = [...sites];
  for (let site = left.pop(); site !== undefined; site = left.pop()) {
    let node: FlaggedNode | null | undefined = site;
    while (node && !isActive(node)) {
      node.isActive = true;
      const binding: Binding | undefined = isFunction(node) ? scopes.functions.get(node)?.binding : undefined;
      if (binding !== undefined) pushAll<Node>(left, binding.reads);
      const waiting = node.type === "VariableDeclarator" ? findWaitingCall(node) : undefined;
      if (waiting !== undefined) pushAll<Node>(left, waiting.arguments.slice(0, 1));
      node = binding === undefined ? node.parent : undefined;
    }
  }
}

const EXITS: ByType<readonly [], void> = {
  ReturnStatement: (node) => markExit(node, isNoTarget),
  ThrowStatement: (node) => markExit(node, isNoTarget),
  BreakStatement: markJump,
  ContinueStatement: markJump,
};

/** Marks nodes that contain a jump out of the statement list they are in. */
export const exitMarker: TreeVisitor = { enter: (type) => EXITS[type] as Entering | undefined };

function markJump(node: NodeOf<"BreakStatement" | "ContinueStatement">): void {
  const { type, label } = node;
  const isTarget = (target: Node): boolean => {
    if (label !== null) return target.type === "LabeledStatement" && target.label.name === label.name;
    return BREAKABLE.has(target.type) || (type === "BreakStatement" && target.type === "SwitchStatement");
  };
  markExit(node, isTarget);
}

function markExit(from: Node, isTarget: (node: Node) => boolean): void {
  let node: FlaggedNode | null | undefined = from;
  while (node && !isFunction(node) && !isTarget(node)) {
    node.canExit = true;
    node = node.parent;
  }
}

const isNoTarget = (): boolean => false;
