import type { FunctionNode, Node, NodeOf } from "./syntax-tree.ts";

export type Identifier = NodeOf<"Identifier">;

/** One assignment to a variable. */
export interface Write {
  readonly kind: "init" | "assign" | "each" | "update" | "parameter" | "other";
  readonly target: Identifier;
  /** The complete right-hand side; a pattern may take only a part of it. */
  readonly source: Node | undefined;
  /** True where the target gets the source itself, not a part of it. */
  readonly whole: boolean;
}

export interface Binding {
  readonly name: string;
  /** The sandbox provides it. */
  readonly builtin: boolean;
  readonly reads: Identifier[];
  readonly writes: Write[];
  /** Values stored inside it: `list.push(x)`, `object.field = x`. */
  readonly inflows: Node[];
  /** Set where every read of the variable gives this function. */
  fn?: FunctionNode;
}

export interface FunctionInfo {
  readonly node: FunctionNode;
  readonly returns: Node[];
  /** The one name all calls use; undefined for callbacks, methods and the like. */
  binding?: Binding;
}

/** The binding is a field of the identifier: nearly every identifier has one, and a lookup in a `Map` is slow. */
type BoundIdentifier = Identifier & { binding?: Binding };

/** Returns the variable an identifier refers to, undefined for a free name. Valid once `Scopes.finish` has run. */
export function bindingOf(node: Node | null | undefined): Binding | undefined {
  return node?.type === "Identifier" ? (node as BoundIdentifier).binding : undefined;
}

export function bind(node: BoundIdentifier, binding: Binding): void {
  node.binding = binding;
}

export function createBinding(name: string, builtin: boolean): Binding {
  return { name, builtin, reads: [], writes: [], inflows: [] };
}

/** True for a variable that may get another value later, as in `let n = args.n; if (n === undefined) n = 5`. */
export function isReplaced({ writes }: Binding): boolean {
  return writes.slice(1).some(({ kind, target }) => kind === "assign" || isLogicalAssignment(target.parent));
}

export function isLogicalAssignment(node: Node | null | undefined): boolean {
  return node?.type === "AssignmentExpression" && ["??=", "||=", "&&="].includes(node.operator);
}
