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

/** Keys of children that exist when the program runs. */
const runtimeKeys: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(visitorKeys).map(([type, keys]) => [type, keys.filter((key) => !TYPE_KEYS.has(key))]),
);

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

function isTypeOnly(node: Node): boolean {
  if (TYPE_ONLY.has(node.type) || ("declare" in node && (node.declare ?? false))) return true;
  return node.type === "MethodDefinition" && node.value.type === "TSEmptyBodyFunctionExpression";
}

export interface TreeVisitor {
  /** Its children, without their wrappers, follow; `key` is the field of the parent it is in. */
  enter?(node: Node, key: string): void;
  leave?(node: Node): void;
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
  const stack: Node[] = [root];
  const keys: string[] = [""];
  const entered: boolean[] = [false];
  const found: Node[] = [];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const key = keys.pop() ?? "";
    if (entered.pop() === true) {
      for (const visitor of visitors) visitor.leave?.(node);
      continue;
    }
    const foundKeys = collectChildren(node, visitors, found);
    for (const visitor of visitors) visitor.enter?.(node, key);
    stack.push(node);
    keys.push(key);
    entered.push(true);
    for (let index = found.length - 1; index >= 0; index -= 1) {
      stack.push(found[index] as Node);
      keys.push(foundKeys[index] as string);
      entered.push(false);
    }
    found.length = 0;
  }
}

function collectChildren(node: Node, visitors: readonly TreeVisitor[], found: Node[]): string[] {
  const fields = node as unknown as Record<string, unknown>;
  const foundKeys: string[] = [];
  const add = (child: Node, key: string): Node => {
    const inner = unwrap(child, visitors);
    inner.parent = node;
    if (isTypeOnly(inner)) for (const visitor of visitors) visitor.typeOnly?.(inner);
    else {
      found.push(inner);
      foundKeys.push(key);
    }
    return inner;
  };
  for (const key of runtimeKeys[node.type] ?? []) {
    const value = fields[key] as Children;
    if (Array.isArray(value)) {
      value.forEach((child, index) => {
        if (child !== null) value[index] = add(child, key);
      });
    } else if (value) fields[key] = add(value, key);
  }
  return foundKeys;
}

type Children = Node | (Node | null)[] | null | undefined;

function unwrap(child: Node, visitors: readonly TreeVisitor[]): Node {
  let inner = child;
  while (isWrapper(inner)) {
    let innermost: Node = inner.expression;
    while (isWrapper(innermost)) innermost = innermost.expression;
    for (const visitor of visitors) visitor.unwrap?.(inner, innermost);
    inner = inner.expression;
  }
  return inner;
}

/** Spreading a long list into `push` would overrun the stack. */
export function pushAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** All children, in the order of the source, after `traverse`. */
export function childrenOf(node: Node): Node[] {
  const fields = node as unknown as Record<string, Children>;
  return (runtimeKeys[node.type] ?? [])
    .flatMap((key) => fields[key] ?? [])
    .filter((child) => child !== null)
    .filter((child) => !isTypeOnly(child));
}

/** The name of a property, where it stands in the program as it is. */
export function staticKey(node: { readonly key: Node; readonly computed: boolean }): string | undefined {
  const { key, computed } = node;
  if (key.type === "Identifier" && !computed) return key.name;
  return key.type === "Literal" && (typeof key.value === "string" || typeof key.value === "number")
    ? String(key.value)
    : undefined;
}
