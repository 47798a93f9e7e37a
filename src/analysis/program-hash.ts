import { HashedText } from "./hashed-text.ts";
import { type Node, staticKey, type TreeVisitor } from "./syntax-tree.ts";

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

/**
 * Hashes the tree instead of the text: comments, formatting, semicolons, quotes, redundant parentheses and types are not in
 * it, and everything else is.
 */
export class ProgramHash implements TreeVisitor {
  readonly #text = new HashedText();

  constructor() {
    this.#text.write(VERSION);
  }

  readonly enter = (node: Node, key: string): void => {
    if (!isIgnored(node)) describe(node, key, this.#text);
  };

  readonly leave = (node: Node): void => {
    if (!isIgnored(node)) this.#text.write(")");
  };

  digest(): string {
    return this.#text.digest();
  }
}

function isIgnored(node: Node): boolean {
  if (node.type === "EmptyStatement") return node.parent !== undefined && LISTS.has(node.parent.type);
  return node.type === "Identifier" && node.name === "this";
}

function describe(node: Node, key: string, text: HashedText): void {
  const plainKey = key === "key" ? plainKeyOf(node) : undefined;
  if (plainKey !== undefined) write(text, heads.join(key, "Name "), JSON.stringify(plainKey));
  else if (node.type === "Identifier") write(text, heads.join(key, "Identifier name="), node.name);
  else if (node.type === "Literal") write(text, heads.join(key, "Literal "), describeLiteral(node));
  else if (node.type === "TemplateElement") write(text, heads.join(key, "Text "), JSON.stringify(node.value.raw));
  else if (node.type === "PrivateIdentifier") write(text, heads.join(key, "PrivateIdentifier name="), node.name);
  else {
    text.write(heads.join(key, node.type));
    if (node.type === "ArrayExpression" || node.type === "ArrayPattern") text.write(describeHoles(node.elements));
    else writeFields(node, text);
  }
}

function write(text: HashedText, head: string, content: string): void {
  text.write(head);
  text.write(content);
}

function writeFields(node: Node, text: HashedText): void {
  const counted = COUNTED[node.type];
  if (counted === undefined) return;
  const fields = node as unknown as Record<string, unknown>;
  for (const field of counted) {
    const value = fields[field];
    if (value !== false) text.write(fieldTexts.join(field, String(value)));
  }
}

/** Two of few words in one text, which is made once: nearly every node has some. */
class Joined {
  readonly #texts = new Map<string, Map<string, string>>();
  readonly #put: (first: string, second: string) => string;

  constructor(put: (first: string, second: string) => string) {
    this.#put = put;
  }

  join(first: string, second: string): string {
    const texts = this.#texts.get(first) ?? new Map<string, string>();
    const known = texts.get(second);
    if (known !== undefined) return known;
    const text = this.#put(first, second);
    this.#texts.set(first, texts.set(second, text));
    return text;
  }
}

const heads = new Joined((key, type) => `\n${key}(${type}`);
const fieldTexts = new Joined((field, value) => ` ${field}=${value}`);

function describeHoles(elements: readonly unknown[]): string {
  return elements.map((element) => (element === null ? " hole" : " .")).join("");
}

function plainKeyOf({ parent }: Node): string | undefined {
  return parent !== undefined && parent !== null && "key" in parent && "computed" in parent && !parent.computed
    ? staticKey(parent)
    : undefined;
}

function describeLiteral(node: Extract<Node, { type: "Literal" }>): string {
  if ("regex" in node) return `/${node.regex.pattern}/${node.regex.flags}`;
  if ("bigint" in node) return `${node.bigint}n`;
  return JSON.stringify(node.value);
}
