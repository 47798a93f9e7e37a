import { HashedText } from "./hashed-text.ts";
import {
  type ByType,
  type Entering,
  type Leaving,
  type Node,
  type NodeOf,
  staticKey,
  type TreeVisitor,
} from "./syntax-tree.ts";

/** Prefix of the hashed text, so that two normalisations never give equal hashes by chance. */
const VERSION = "pml-program-1";

/**
 * Fields hashed besides the children; `elements` only contributes its holes. The list is explicit so that a new field
 * of the parser cannot change a hash.
 */
const HASHED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  ArrayExpression: ["elements"],
  ArrayPattern: ["elements"],
  ArrowFunctionExpression: ["async"],
  AssignmentExpression: ["operator"],
  BinaryExpression: ["operator"],
  CallExpression: ["optional"],
  ForOfStatement: ["await"],
  FunctionDeclaration: ["async", "generator"],
  FunctionExpression: ["async", "generator"],
  LogicalExpression: ["operator"],
  MemberExpression: ["computed", "optional"],
  MethodDefinition: ["kind", "computed", "static"],
  Property: ["kind", "computed", "method", "shorthand"],
  PropertyDefinition: ["computed", "static"],
  TSEnumMember: ["computed"],
  UnaryExpression: ["operator"],
  UpdateExpression: ["operator", "prefix"],
  VariableDeclaration: ["kind"],
  YieldExpression: ["delegate"],
};

/** Lists in which an empty statement means nothing. */
const LISTS: ReadonlySet<string> = new Set<Node["type"]>(["BlockStatement", "StaticBlock", "SwitchCase"]);

/** Content of nodes without children, written behind their word; undefined skips the node. */
const LEAVES: ByType<readonly [], string | undefined> = {
  // A `this` parameter only states a type.
  Identifier: ({ name }) => (name === "this" ? undefined : name),
  Literal: describeLiteral,
  PrivateIdentifier: ({ name }) => name,
  TemplateElement: ({ value }) => JSON.stringify(value.raw),
};
const WORDS: Readonly<Record<string, string>> = {
  Identifier: "Identifier name=",
  Literal: "Literal ",
  PrivateIdentifier: "PrivateIdentifier name=",
  TemplateElement: "Text ",
};

/**
 * Hashes the tree instead of the text: ignores comments, formatting, semicolons, quotes, redundant parentheses and
 * types, and nothing else.
 */
export class ProgramHash implements TreeVisitor {
  readonly #text = new HashedText();

  constructor() {
    this.#text.write(VERSION);
  }

  enter(type: Node["type"]): Entering {
    const contentOf = LEAVES[type] as ((node: Node) => string | undefined) | undefined;
    const heads = headsOf(type);
    return contentOf === undefined ? this.#enterInner(type, heads) : this.#enterLeaf(heads, contentOf);
  }

  leave(type: Node["type"]): Leaving | undefined {
    if (type in LEAVES) return undefined;
    return (node) => {
      if (!isIgnored(node, type)) this.#text.write(")");
    };
  }

  digest(): string {
    return this.#text.digest();
  }

  #enterLeaf(heads: TextCache, contentOf: (node: Node) => string | undefined): Entering {
    return (node, key) => {
      const content = contentOf(node);
      if (content === undefined) return;
      const plainKey = key === "key" ? plainKeyOf(node) : undefined;
      this.#text.write(plainKey === undefined ? `${heads.with(key)}${content})` : describePlainKey(plainKey));
    };
  }

  #enterInner(type: Node["type"], heads: TextCache): Entering {
    const counted = (HASHED_FIELDS[type] ?? []).map((field) => ({ field, texts: fieldsOf(field) }));
    return (node, key) => {
      if (isIgnored(node, type)) return;
      this.#text.write(heads.with(key));
      const fields = node as unknown as Record<string, unknown>;
      for (const { field, texts } of counted) this.#writeField(fields[field], texts);
    };
  }

  #writeField(value: unknown, texts: TextCache): void {
    if (Array.isArray(value)) this.#text.write(describeHoles(value));
    else if (value !== false) this.#text.write(texts.with(String(value)));
  }
}

function isIgnored(node: Node, type: Node["type"]): boolean {
  return type === "EmptyStatement" && LISTS.has(node.parent?.type ?? "");
}

/** Caches texts that differ in one of a few words, as nearly every node writes some. */
class TextCache {
  readonly #known = new Map<string, string>();
  readonly #before: string;
  readonly #after: string;

  constructor(before: string, after: string) {
    this.#before = before;
    this.#after = after;
  }

  with(word: string): string {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const text = this.#before + word + this.#after;
    this.#known.set(word, text);
    return text;
  }
}

const heads = new Map<string, TextCache>();
const fieldTexts = new Map<string, TextCache>();

/** Texts that start a node of one type, by its key in the parent. */
function headsOf(type: Node["type"]): TextCache {
  const known = heads.get(type) ?? new TextCache("\n", `(${WORDS[type] ?? type}`);
  heads.set(type, known);
  return known;
}

/** Texts of one field, by its value. */
function fieldsOf(field: string): TextCache {
  const known = fieldTexts.get(field) ?? new TextCache(` ${field}=`, "");
  fieldTexts.set(field, known);
  return known;
}

function describeHoles(elements: readonly unknown[]): string {
  let text = "";
  for (const element of elements) text += element === null ? " hole" : " .";
  return text;
}

/** Describes a key the same with quotes and without. */
function describePlainKey(name: string): string {
  return `\nkey(Name ${JSON.stringify(name)})`;
}

function plainKeyOf({ parent }: Node): string | undefined {
  const owner = parent as { readonly key: Node; readonly computed?: boolean };
  return owner.computed === false ? staticKey({ key: owner.key, computed: false }) : undefined;
}

function describeLiteral(node: NodeOf<"Literal">): string {
  if ("regex" in node) return `/${node.regex.pattern}/${node.regex.flags}`;
  if ("bigint" in node) return `${node.bigint}n`;
  // `1e999` is a number; as JSON it would be the text of `null`.
  return node.value === Infinity ? "Infinity" : JSON.stringify(node.value);
}
