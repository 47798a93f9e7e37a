import { createHash } from "node:crypto";
import { type Node, type NodeOf, pushAll, staticKey, type TreeVisitor } from "./syntax-tree.ts";

/** Stands in the hashed text: two ways of normalising never give equal hashes by chance. */
const VERSION = "pml-program-1";

/** Fields that count besides the children, where they are set. A field of a later parser cannot change a hash. */
const COUNTED = [
  "operator",
  "kind",
  "async",
  "generator",
  "computed",
  "static",
  "prefix",
  "delegate",
  "await",
  "shorthand",
  "method",
  "name",
] as const;

/** Lists in which an empty statement means nothing. */
const LISTS: ReadonlySet<string> = new Set<Node["type"]>(["BlockStatement", "StaticBlock", "SwitchCase"]);

/**
 * Hashes the tree instead of the text: comments, formatting, semicolons, quotes, redundant parentheses and types are not in
 * it, and everything else is.
 */
export class ProgramHash implements TreeVisitor {
  readonly #parts: string[] = [VERSION];

  enter(node: Node, key: string): void {
    if (isIgnored(node)) return;
    this.#parts.push(`${key}(${node.type}`);
    pushAll(this.#parts, describe(node, key));
  }

  leave(node: Node): void {
    if (!isIgnored(node)) this.#parts.push(")");
  }

  digest(): string {
    return createHash("sha256").update(this.#parts.join("\n")).digest("hex");
  }
}

function isIgnored(node: Node): boolean {
  if (node.type === "EmptyStatement") return node.parent !== undefined && LISTS.has(node.parent.type);
  return node.type === "Identifier" && node.name === "this";
}

function describe(node: Node, key: string): string[] {
  const plainKey = key === "key" ? plainKeyOf(node) : undefined;
  if (plainKey !== undefined) return [JSON.stringify(plainKey)];
  if (node.type === "Literal") return [describeLiteral(node)];
  if (node.type === "TemplateElement") return [JSON.stringify(node.value.raw)];
  if (node.type === "ArrayExpression" || node.type === "ArrayPattern") return describeHoles(node.elements);
  const parts: string[] = [];
  const fields = node as unknown as Record<string, unknown>;
  for (const field of COUNTED) {
    const value = fields[field];
    if (typeof value === "string" || value === true) parts.push(`${field}=${String(value)}`);
  }
  if (isLink(node) && node.optional) parts.push("optional");
  return parts;
}

/** Elsewhere an optional thing is a type. */
function isLink(node: Node): node is NodeOf<"CallExpression" | "MemberExpression"> {
  return node.type === "CallExpression" || node.type === "MemberExpression";
}

function describeHoles(elements: readonly unknown[]): string[] {
  return elements.flatMap((element, index) => (element === null ? [`hole=${index}`] : []));
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
