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

/** Stands in the hashed text: two ways of normalising never give equal hashes by chance. */
const VERSION = "pml-program-1";

/** Fields that count besides the children, of `elements` where it has holes. Written out, so that a new field of the parser cannot change a hash. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
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

/** What counts of nodes without children, behind the word for them; undefined: nothing. */
const LEAVES: ByType<readonly [], string | undefined> = {
  // The type of `this` stands among the parameters.
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
 * Hashes the tree instead of the text: comments, formatting, semicolons, quotes, redundant parentheses and types are not in
 * it, and everything else is.
 */
export class ProgramHash implements TreeVisitor {
  readonly #text = new HashedText();

  constructor() {
    this.#text.write(VERSION);
  }

  enter(type: Node["type"]): Entering {
    const contentOf = LEAVES[type] as ((node: Node) => string | undefined) | undefined;
    return contentOf === undefined ? this.#enterInner(type) : this.#enterLeaf(headsOf(WORDS[type] ?? type), contentOf);
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

  #enterLeaf(heads: Heads, contentOf: (node: Node) => string | undefined): Entering {
    return (node, key) => {
      const content = contentOf(node);
      if (content === undefined) return;
      const plainKey = key === "key" ? plainKeyOf(node) : undefined;
      this.#text.write(plainKey === undefined ? `${heads.at(key)}${content})` : describePlainKey(plainKey));
    };
  }

  #enterInner(type: Node["type"]): Entering {
    const heads = headsOf(type);
    const fields = COUNTED[type] ?? [];
    return (node, key) => {
      if (isIgnored(node, type)) return;
      this.#text.write(heads.at(key));
      for (const field of fields) this.#writeField(field, (node as unknown as Record<string, unknown>)[field]);
    };
  }

  #writeField(field: string, value: unknown): void {
    if (Array.isArray(value)) this.#text.write(describeHoles(value));
    else if (value !== false) this.#text.write(` ${field}=${String(value)}`);
  }
}

function isIgnored({ parent }: Node, type: Node["type"]): boolean {
  return type === "EmptyStatement" && LISTS.has(parent?.type ?? "");
}

/** What a node starts with, by the key it has in its parent; made once, as nearly every node has the same. */
class Heads {
  readonly #texts = new Map<string, string>();
  readonly #word: string;

  constructor(word: string) {
    this.#word = word;
  }

  at(key: string): string {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = `\n${key}(${this.#word}`;
    this.#texts.set(key, text);
    return text;
  }
}

const headsByWord = new Map<string, Heads>();

function headsOf(word: string): Heads {
  const known = headsByWord.get(word);
  if (known !== undefined) return known;
  const heads = new Heads(word);
  headsByWord.set(word, heads);
  return heads;
}

function describeHoles(elements: readonly unknown[]): string {
  let text = "";
  for (const element of elements) text += element === null ? " hole" : " .";
  return text;
}

/** The same with quotes and without. */
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
  return JSON.stringify(node.value);
}
