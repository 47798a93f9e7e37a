import type { FunctionNode, Node, NodeOf } from "./syntax-tree.ts";

export type Identifier = NodeOf<"Identifier">;

/** How a variable gets a value. */
export interface Write {
  readonly kind: "init" | "assign" | "each" | "update" | "parameter" | "other";
  readonly target: Identifier;
  /** The whole expression it comes from; a pattern may take only a part of it. */
  readonly source: Node | undefined;
  /** The target gets the source as it is. */
  readonly whole: boolean;
}

export interface Binding {
  readonly name: string;
  /** Given by the sandbox. */
  readonly builtin: boolean;
  readonly reads: Identifier[];
  readonly writes: Write[];
  /** What is stored inside of it: `list.push(x)`, `object.field = x`. */
  readonly inflows: Node[];
  /** The function it always is. */
  fn?: FunctionNode;
}

export interface FunctionInfo {
  readonly node: FunctionNode;
  readonly returns: Node[];
  /** The name it is always called by; undefined for callbacks, methods and the like. */
  binding?: Binding;
}

/** Kept on the identifier: nearly all have one, and a map of them is slow. */
type Bound = Identifier & { binding?: Binding };

/** Whom an identifier stands for; undefined for a free name. Complete after `Scopes` has finished. */
export function bindingOf(node: Node | null | undefined): Binding | undefined {
  return node?.type === "Identifier" ? (node as Bound).binding : undefined;
}

export function bind(node: Bound, binding: Binding): void {
  node.binding = binding;
}

export function createBinding(name: string, builtin: boolean): Binding {
  return { name, builtin, reads: [], writes: [], inflows: [] };
}
