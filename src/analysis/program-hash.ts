import { createHash } from "node:crypto";
import { type Node, staticKey, type TreeVisitor } from "./syntax-tree.ts";

/** Stands in the hashed text: two ways of normalising never give equal hashes by chance. */
const VERSION = "pml-program-1";

/** Fields that count besides the children. Written out, so that a new field of the parser cannot change a hash. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
  ArrowFunctionExpression: ["async"],
  AssignmentExpression: ["operator"],
  BinaryExpression: ["operator"],
  CallExpression: ["optional"],
  ForOfStatement: ["await"],
  FunctionDeclaration: ["async", "generator"],
  FunctionExpression: ["async", "generator"],
  Identifier: ["name"],
  LogicalExpression: ["operator"],
  MemberExpression: ["computed", "optional"],
  MethodDefinition: ["kind", "computed", "static"],
  PrivateIdentifier: ["name"],
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
  #text = VERSION;

  enter(node: Node, key: string): void {
    if (!isIgnored(node)) this.#text += `\n${key}(${describe(node, key)}`;
  }

  leave(node: Node): void {
    if (!isIgnored(node)) this.#text += ")";
  }

  digest(): string {
    return createHash("sha256").update(this.#text).digest("hex");
  }
}

function isIgnored(node: Node): boolean {
  if (node.type === "EmptyStatement") return node.parent !== undefined && LISTS.has(node.parent.type);
  return node.type === "Identifier" && node.name === "this";
}

function describe(node: Node, key: string): string {
  const plainKey = key === "key" ? plainKeyOf(node) : undefined;
  if (plainKey !== undefined) return `Name ${JSON.stringify(plainKey)}`;
  if (node.type === "Literal") return `Literal ${describeLiteral(node)}`;
  if (node.type === "TemplateElement") return `Text ${JSON.stringify(node.value.raw)}`;
  if (node.type === "ArrayExpression" || node.type === "ArrayPattern") return node.type + describeHoles(node.elements);
  const fields = node as unknown as Record<string, unknown>;
  let text: string = node.type;
  for (const field of COUNTED[node.type] ?? []) {
    const value = fields[field];
    if (value !== false) text += ` ${field}=${String(value)}`;
  }
  return text;
}

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
