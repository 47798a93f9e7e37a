import { HashedText } from "./hashed-text.ts";
import { type ByType, type Entering, type Leaving, type Node, type NodeOf, staticKey, type TreeVisitor } from "./syntax-tree.ts";

/** Stands in the hashed text: two ways of normalising never give equal hashes by chance. */
const VERSION = "pml-program-1";

/** Fields that count besides the children, and besides the name of an identifier. Written out, so that a new field of the parser cannot change a hash. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
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

/** What stands for a node instead of the name of its type. */
const WORDS: { readonly [T in Node["type"]]?: string } = {
  Identifier: "Identifier name=",
  Literal: "Literal ",
  PrivateIdentifier: "PrivateIdentifier name=",
  TemplateElement: "Text ",
};
/** Stands for a key that could as well be written in quotes. */
const NAME = "Name ";

/** What counts of a node that is more than some of its fields. */
const CONTENTS: ByType<readonly [], string> = {
  ArrayExpression: ({ elements }) => describeHoles(elements),
  ArrayPattern: ({ elements }) => describeHoles(elements),
  Identifier: ({ name }) => name,
  Literal: describeLiteral,
  PrivateIdentifier: ({ name }) => name,
  TemplateElement: ({ value }) => JSON.stringify(value.raw),
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
    const text = this.#text;
    const heads = headsOf(WORDS[type] ?? type);
    const fields = COUNTED[type] ?? [];
    const contentOf = CONTENTS[type] as ((node: Node) => string) | undefined;
    return (node, key) => {
      if (isIgnored(node, type)) return;
      const plainKey = key === "key" ? plainKeyOf(node) : undefined;
      if (plainKey !== undefined) {
        text.write(headsOf(NAME).at(key));
        text.write(JSON.stringify(plainKey));
      } else {
        text.write(heads.at(key));
        if (contentOf !== undefined) text.write(contentOf(node));
        else for (const field of fields) writeField(text, node, field);
      }
    };
  }

  leave(type: Node["type"]): Leaving {
    return (node) => {
      if (!isIgnored(node, type)) this.#text.write(")");
    };
  }

  digest(): string {
    return this.#text.digest();
  }
}

function isIgnored(node: Node, type: Node["type"]): boolean {
  if (type === "Identifier") return (node as NodeOf<"Identifier">).name === "this";
  return type === "EmptyStatement" && LISTS.has(node.parent?.type ?? "");
}

function writeField(text: HashedText, node: Node, field: string): void {
  const value = (node as unknown as Record<string, unknown>)[field];
  if (value === false) return;
  text.write(` ${field}=`);
  text.write(String(value));
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
  return elements.map((element) => (element === null ? " hole" : " .")).join("");
}

function plainKeyOf({ parent }: Node): string | undefined {
  return parent !== undefined && parent !== null && "key" in parent && "computed" in parent && !parent.computed
    ? staticKey(parent)
    : undefined;
}

function describeLiteral(node: NodeOf<"Literal">): string {
  if ("regex" in node) return `/${node.regex.pattern}/${node.regex.flags}`;
  if ("bigint" in node) return `${node.bigint}n`;
  return JSON.stringify(node.value);
}
