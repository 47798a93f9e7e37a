import { type Node, visitorKeys } from "oxc-parser";

/** `traverse` sets the parents. */
export type { Node };
export type NodeOf<T extends Node["type"]> = Node extends infer N
  ? N extends { readonly type: infer U }
    ? [U & T] extends [never]
      ? never
      : N
    : never
  : never;
export type FunctionNode = NodeOf<"FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression">;
export type LoopNode = NodeOf<
  "ForStatement" | "ForInStatement" | "ForOfStatement" | "WhileStatement" | "DoWhileStatement"
>;

/** Handlers by node type; each receives a node of its type. */
export type ByType<Rest extends readonly unknown[], Result> = {
  readonly [T in Node["type"]]?: (node: NodeOf<T>, ...rest: Rest) => Result;
};

export function handlerOf<Rest extends readonly unknown[], Result>(
  handlers: ByType<Rest, Result>,
  node: Node,
): ((node: Node, ...rest: Rest) => Result) | undefined {
  return handlers[node.type] as ((node: Node, ...rest: Rest) => Result) | undefined;
}

const TYPE_KEYS = new Set([
  "typeAnnotation",
  "typeParameters",
  "typeArguments",
  "returnType",
  "superTypeArguments",
  "implements",
  "decorators",
]);

export function isFunction(node: Node): node is FunctionNode {
  return (
    node.type === "ArrowFunctionExpression" ||
    node.type === "FunctionExpression" ||
    (node.type === "FunctionDeclaration" && node.body !== null)
  );
}

/** Parentheses and types around an expression, which have no effect at run time. */
export type Wrapper = NodeOf<
  | "ParenthesizedExpression"
  | "TSAsExpression"
  | "TSSatisfiesExpression"
  | "TSNonNullExpression"
  | "TSTypeAssertion"
  | "TSInstantiationExpression"
>;

const WRAPPERS: ReadonlySet<string> = new Set<Wrapper["type"]>([
  "ParenthesizedExpression",
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
]);

function isWrapper(node: Node): node is Wrapper {
  return WRAPPERS.has(node.type);
}

const TYPE_ONLY: ReadonlySet<string> = new Set<Node["type"]>([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSDeclareFunction",
  "TSAbstractMethodDefinition",
  "TSAbstractPropertyDefinition",
  "TSAbstractAccessorProperty",
  "TSIndexSignature",
]);

const DECLARABLE: ReadonlySet<string> = new Set<Node["type"]>([
  "VariableDeclaration",
  "ClassDeclaration",
  "TSEnumDeclaration",
  "TSModuleDeclaration",
  "PropertyDefinition",
]);

function isTypeOnly(node: Node): boolean {
  if (node.type === "MethodDefinition") return node.value.type === "TSEmptyBodyFunctionExpression";
  return TYPE_ONLY.has(node.type) || (DECLARABLE.has(node.type) && (node as { declare?: boolean }).declare === true);
}

/** Facts about all nodes of one type. */
interface Syntax {
  readonly type: Node["type"];
  /** Keys of children that exist at run time. */
  readonly keys: readonly string[];
  readonly isWrapper: boolean;
  /** Some nodes of the type do not exist at run time. */
  readonly canBeTypeOnly: boolean;
}

const SYNTAX: ReadonlyMap<string, Syntax> = new Map(
  Object.entries(visitorKeys).map(([type, keys]) => [type, describeSyntax(type as Node["type"], keys)]),
);

function describeSyntax(type: Node["type"], keys: readonly string[]): Syntax {
  return {
    type,
    keys: keys.filter((key) => !TYPE_KEYS.has(key)),
    isWrapper: WRAPPERS.has(type),
    canBeTypeOnly: type === "MethodDefinition" || TYPE_ONLY.has(type) || DECLARABLE.has(type),
  };
}

export type Entering = (node: Node, key: string) => void;
export type Leaving = (node: Node) => void;

/** `traverse` asks a visitor once per node type for a handler. */
export interface TreeVisitor {
  /** The handler runs before those of the children; `key` is the node's field in its parent. */
  enter?(type: Node["type"]): Entering | undefined;
  leave?(type: Node["type"]): Leaving | undefined;
  /** `inner` took the place of `wrapper` in the tree. */
  unwrap?(wrapper: Wrapper, inner: Node): void;
  /** Reports a declaration that does not exist at run time and is not entered. */
  typeOnly?(node: Node): void;
}

/**
 * Walks the tree once, in source order, without recursion: trees can be deeper than the stack. Sets parents and removes
 * wrappers from the tree, so that later passes never meet them.
 */
export function traverse(root: Node, visitors: readonly TreeVisitor[]): void {
  new Traversal(visitors).run(root);
}

type Children = Node | (Node | null)[] | null | undefined;

/** Replaces the key of a node that has been entered. */
const ENTERED = "entered";
const LETTERS = 26;

/** Handlers for the nodes of one type. */
interface NodeKind extends Syntax {
  readonly entering: readonly Entering[];
  readonly leaving: readonly Leaving[];
}

class Traversal {
  readonly #kinds = new Map<string, NodeKind>();
  /** Cache by length and first letter of the type's name. */
  readonly #guesses: NodeKind[] = [];
  readonly #visitors: readonly TreeVisitor[];
  readonly #stack: Node[] = [];
  readonly #stackKeys: string[] = [];
  readonly #stackKinds: NodeKind[] = [];

  constructor(visitors: readonly TreeVisitor[]) {
    this.#visitors = visitors;
  }

  run(root: Node): void {
    this.#push(root, "", this.#kindOf(root));
    for (let top = 0; top >= 0; top = this.#stack.length - 1) {
      const node = this.#stack[top] as Node;
      const key = this.#stackKeys[top] as string;
      const kind = this.#stackKinds[top] as NodeKind;
      const isInner = kind.keys.length > 0;
      if (key !== ENTERED && isInner) {
        this.#stackKeys[top] = ENTERED;
        this.#pushChildren(node, kind.keys);
      } else this.#pop();
      if (key !== ENTERED) for (const enter of kind.entering) enter(node, key);
      if (key === ENTERED || !isInner) for (const leave of kind.leaving) leave(node);
    }
  }

  #kindOf({ type }: Node): NodeKind {
    // Each node has its own string for its type: comparing it is far cheaper than hashing it.
    const likeness = type.length * LETTERS + type.charCodeAt(0);
    const guess = this.#guesses[likeness];
    if (guess?.type === type) return guess;
    const kind = this.#kinds.get(type) ?? this.#createKind(type);
    this.#guesses[likeness] = kind;
    return kind;
  }

  #createKind(type: Node["type"]): NodeKind {
    const kind: NodeKind = {
      ...(SYNTAX.get(type) ?? describeSyntax(type, [])),
      entering: this.#visitors.flatMap((visitor) => visitor.enter?.(type) ?? []),
      leaving: this.#visitors.flatMap((visitor) => visitor.leave?.(type) ?? []),
    };
    this.#kinds.set(kind.type, kind);
    return kind;
  }

  #pop(): void {
    this.#stack.pop();
    this.#stackKeys.pop();
    this.#stackKinds.pop();
  }

  #push(node: Node, key: string, kind: NodeKind): void {
    this.#stack.push(node);
    this.#stackKeys.push(key);
    this.#stackKinds.push(kind);
  }

  /** Pushes the last child first, so that the first one is popped first. */
  #pushChildren(node: Node, keys: readonly string[]): void {
    const fields = node as unknown as Record<string, Children>;
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index] as string;
      const value = fields[key];
      if (Array.isArray(value)) this.#pushList(node, value, key);
      else if (value !== null && value !== undefined) {
        const inner = this.#pushChild(node, value, key);
        if (inner !== value) fields[key] = inner;
      }
    }
  }

  #pushList(node: Node, list: (Node | null)[], key: string): void {
    for (let index = list.length - 1; index >= 0; index -= 1) {
      const child = list[index];
      if (child === null || child === undefined) continue;
      const inner = this.#pushChild(node, child, key);
      if (inner !== child) list[index] = inner;
    }
  }

  #pushChild(parent: Node, child: Node, key: string): Node {
    const outer = this.#kindOf(child);
    const inner = outer.isWrapper ? this.#unwrap(child as Wrapper) : child;
    const kind = inner === child ? outer : this.#kindOf(inner);
    inner.parent = parent;
    // Interning the type makes later comparisons a pointer comparison.
    (inner as { type: string }).type = kind.type;
    if (kind.canBeTypeOnly && isTypeOnly(inner)) for (const visitor of this.#visitors) visitor.typeOnly?.(inner);
    else this.#push(inner, key, kind);
    return inner;
  }

  #unwrap(outermost: Wrapper): Node {
    const wrappers: Wrapper[] = [];
    let inner: Node = outermost;
    for (; isWrapper(inner); inner = inner.expression) wrappers.push(inner);
    for (const wrapper of wrappers) for (const visitor of this.#visitors) visitor.unwrap?.(wrapper, inner);
    return inner;
  }
}

/** Pushes one by one: spreading a long list into `push` would overrun the stack. */
export function pushAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** Returns all children in source order. Valid after `traverse`. */
export function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  pushChildren(children, node);
  return children;
}

export function pushChildren(children: Node[], node: Node): void {
  const fields = node as unknown as Record<string, Children>;
  for (const key of SYNTAX.get(node.type)?.keys ?? []) {
    const value = fields[key];
    if (Array.isArray(value)) addChildren(children, value);
    else if (value !== null && value !== undefined) children.push(value);
  }
}

/** Skips types, which only occur in lists of declarations. */
function addChildren(children: Node[], list: readonly (Node | null)[]): void {
  for (const child of list) if (child !== null && !isTypeOnly(child)) children.push(child);
}

/** True for exactly `object.property`. */
export function isMember(node: Node, object: string, property: string): boolean {
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return false;
  return node.object.type === "Identifier" && node.object.name === object && node.property.name === property;
}

/** Returns the name of the called method, for any object. */
export function methodOf({ callee }: NodeOf<"CallExpression">): string | undefined {
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") return undefined;
  return callee.property.name;
}

/** Returns the name of a property that is not computed. */
export function staticKey(node: { readonly key: Node; readonly computed: boolean }): string | undefined {
  const { key, computed } = node;
  if (key.type === "Identifier" && !computed) return key.name;
  return key.type === "Literal" && (typeof key.value === "string" || typeof key.value === "number")
    ? String(key.value)
    : undefined;
}
