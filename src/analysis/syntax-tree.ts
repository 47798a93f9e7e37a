import { type Node, visitorKeys } from "oxc-parser";

/** Parents are set by `traverse`. */
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

/** A handler for some types of nodes, called with the node it is for. */
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

/** Parentheses and types around an expression, which mean nothing when it runs. */
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

/** What is known of all nodes of one type. */
interface Syntax {
  readonly type: Node["type"];
  /** Keys of children that exist when the program runs. */
  readonly keys: readonly string[];
  readonly isWrapper: boolean;
  /** Some of them are not there when the program runs. */
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

/** Asked once for each type in the tree what is to be done with its nodes. */
export interface TreeVisitor {
  /** Its children, without their wrappers, follow; `key` is the field of the parent it is in. */
  enter?(type: Node["type"]): Entering | undefined;
  leave?(type: Node["type"]): Leaving | undefined;
  /** `inner` took the place of `wrapper` in the tree. */
  unwrap?(wrapper: Wrapper, inner: Node): void;
  /** A declaration that is not there when the program runs; not entered. */
  typeOnly?(node: Node): void;
}

/**
 * Walks the tree once, in the order of the source, without recursion: trees can be deeper than the stack. Sets parents and
 * takes wrappers out of the tree, so that nobody after it meets them.
 */
export function traverse(root: Node, visitors: readonly TreeVisitor[]): void {
  new Traversal(visitors).run(root);
}

type Children = Node | (Node | null)[] | null | undefined;

/** In place of a key: the node has been entered. */
const ENTERED = "entered";
const LETTERS = 26;

/** What is to be done with nodes of one type; looked up once for each node. */
interface Kind extends Syntax {
  readonly entering: readonly Entering[];
  readonly leaving: readonly Leaving[];
}

class Traversal {
  readonly #kinds = new Map<string, Kind>();
  /** The last one met of those whose types have the same length and start. */
  readonly #guesses: Kind[] = [];
  readonly #visitors: readonly TreeVisitor[];
  readonly #stack: Node[] = [];
  readonly #stackKeys: string[] = [];
  readonly #stackKinds: Kind[] = [];

  constructor(visitors: readonly TreeVisitor[]) {
    this.#visitors = visitors;
  }

  run(root: Node): void {
    this.#push(root, "", this.#kindOf(root));
    for (let top = 0; top >= 0; top = this.#stack.length - 1) {
      const node = this.#stack[top] as Node;
      const key = this.#stackKeys[top] as string;
      const kind = this.#stackKinds[top] as Kind;
      const isInner = kind.keys.length > 0;
      if (key !== ENTERED && isInner) {
        this.#stackKeys[top] = ENTERED;
        this.#pushChildren(node, kind.keys);
      } else this.#pop();
      if (key !== ENTERED) for (const enter of kind.entering) enter(node, key);
      if (key === ENTERED || !isInner) for (const leave of kind.leaving) leave(node);
    }
  }

  #kindOf({ type }: Node): Kind {
    // Each node has a text of its own for its type: to compare it is far cheaper than to hash it.
    const likeness = type.length * LETTERS + type.charCodeAt(0);
    const guess = this.#guesses[likeness];
    if (guess?.type === type) return guess;
    const kind = this.#kinds.get(type) ?? this.#createKind(type);
    this.#guesses[likeness] = kind;
    return kind;
  }

  #createKind(type: Node["type"]): Kind {
    const kind: Kind = {
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

  #push(node: Node, key: string, kind: Kind): void {
    this.#stack.push(node);
    this.#stackKeys.push(key);
    this.#stackKinds.push(kind);
  }

  /** The last first, so that the first is taken first. */
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
    // One text for all of a type is also what those that come after can compare at once.
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

/** Spreading a long list into `push` would overrun the stack. */
export function pushAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** All children, in the order of the source, after `traverse`. */
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

/** Only lists have declarations in them, and some are types. */
function addChildren(children: Node[], list: readonly (Node | null)[]): void {
  for (const child of list) if (child !== null && !isTypeOnly(child)) children.push(child);
}

/** `object.property`, as it stands. */
export function isMember(node: Node, object: string, property: string): boolean {
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return false;
  return node.object.type === "Identifier" && node.object.name === object && node.property.name === property;
}

/** The name of the method that is called, whatever its object is. */
export function methodOf({ callee }: NodeOf<"CallExpression">): string | undefined {
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") return undefined;
  return callee.property.name;
}

/** The name of a property, where it stands in the program as it is. */
export function staticKey(node: { readonly key: Node; readonly computed: boolean }): string | undefined {
  const { key, computed } = node;
  if (key.type === "Identifier" && !computed) return key.name;
  return key.type === "Literal" && (typeof key.value === "string" || typeof key.value === "number")
    ? String(key.value)
    : undefined;
}
