import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { type ByType, handlerOf, type Node, type NodeOf } from "../../src/analysis/syntax-tree.ts";
import type { Random } from "../../test/support/random.ts";
import type { Style } from "./style.ts";
import { entriesOf } from "./tool-call.ts";

/** How a name of the solution is written in this program. */
export interface Written {
  readonly text: string;
  /** Its members, where they are not written as `text.member`. */
  readonly members?: Names;
  /** The value itself, where it stands in the program; a longer text then holds it as it is. */
  readonly value?: JsonValue;
}

export type Names = ReadonlyMap<string, Written>;

/** Prints the expressions of a solution in a style. */
export class ExpressionPrinter {
  readonly #style: Style;
  readonly #random: Random;

  constructor(style: Style, random: Random) {
    this.#style = style;
    this.#random = random;
  }

  print(node: Node, names: Names): string {
    const handler = handlerOf(this.#handlers, node);
    if (handler === undefined) throw new Error(`The writer does not know ${node.type}`);
    return handler(node, names);
  }

  readonly #handlers: ByType<readonly [Names], string> = {
    Literal: (node) => (typeof node.value === "string" ? this.literal(node.value) : JSON.stringify(node.value)),
    Identifier: ({ name }, names) => names.get(name)?.text ?? name,
    ParenthesizedExpression: ({ expression }, names) => `(${this.print(expression, names)})`,
    MemberExpression: (node, names) => this.#member(node, names),
    CallExpression: ({ callee, arguments: given }, names) =>
      `${this.print(callee, names)}(${given.map((each) => this.print(each, names)).join(", ")})`,
    BinaryExpression: ({ left, operator, right }, names) =>
      `${this.#operand(left, names)} ${operator} ${this.#operand(right, names)}`,
    UnaryExpression: ({ operator, argument }, names) => `${operator}${this.print(argument, names)}`,
    TemplateLiteral: (node, names) => this.#text(node, names),
    ArrowFunctionExpression: (node, names) => this.#arrow(node, names),
    ArrayExpression: ({ elements }, names) =>
      `[${elements.map((each) => (each === null ? "" : this.print(each, names))).join(", ")}]`,
    ObjectExpression: (node, names) => this.object(node, names),
  };

  /** An operand that is not one name or value is put in brackets. */
  #operand(node: Node, names: Names): string {
    const text = this.print(node, names);
    return node.type === "BinaryExpression" ? `(${text})` : text;
  }

  #member({ object, property, computed }: NodeOf<"MemberExpression">, names: Names): string {
    if (computed) return `${this.print(object, names)}[${this.print(property, names)}]`;
    if (property.type !== "Identifier") throw new Error("The writer does not know private members");
    const known = findWritten(object, names)?.members?.get(property.name)?.text;
    return known ?? `${this.print(object, names)}.${property.name}`;
  }

  #arrow({ params, body }: NodeOf<"ArrowFunctionExpression">, names: Names): string {
    const own = params.map((each) => {
      if (each.type !== "Identifier") throw new Error("The writer knows plain parameters only");
      return each.name;
    });
    // Parameters hide names from outside.
    const inner = new Map([...names].filter(([name]) => !own.includes(name)));
    const result = this.print(body, inner);
    const list = own.length === 1 && this.#random.chance(30) ? own[0] : `(${own.join(", ")})`;
    return `${list} => ${result}`;
  }

  object(node: NodeOf<"ObjectExpression">, names: Names): string {
    const entries = entriesOf(node).map(([key, value]) => {
      const text = this.print(value, names);
      return text === key ? key : `${key}: ${text}`;
    });
    return `{ ${this.shuffled(entries).join(", ")} }`;
  }

  /** Texts with values in them; a value that stands in the program becomes a part of the text. */
  #text({ quasis, expressions }: NodeOf<"TemplateLiteral">, names: Names): string {
    const parts: (string | { readonly code: string })[] = quasis.flatMap((quasi, index) => {
      const expression = expressions[index];
      const text = quasi.value.cooked ?? "";
      if (expression === undefined) return [text];
      const value = findWritten(expression, names)?.value;
      return [text, typeof value === "string" ? value : { code: this.print(expression, names) }];
    });
    return this.#style.texts === "template" ? this.#template(parts) : this.#concatenation(parts);
  }

  #template(parts: readonly (string | { readonly code: string })[]): string {
    const written = parts.map((part) => (typeof part === "string" ? escapeText(part, "`") : `\${${part.code}}`));
    return `\`${written.join("")}\``;
  }

  #concatenation(parts: readonly (string | { readonly code: string })[]): string {
    const joined: (string | { readonly code: string })[] = [];
    for (const part of parts) {
      const last = joined.at(-1);
      if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
      else joined.push(part);
    }
    return joined
      .filter((part) => part !== "")
      .map((part) => (typeof part === "string" ? this.literal(part) : part.code))
      .join(" + ");
  }

  value(value: JsonValue): string {
    if (typeof value === "string") return this.literal(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.value(item)).join(", ")}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const entries = Object.entries(value as JsonObject).map(([key, item]) => `${key}: ${this.value(item)}`);
    return `{ ${entries.join(", ")} }`;
  }

  literal(text: string): string {
    const { quote } = this.#style;
    return quote + escapeText(text, quote) + quote;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, rank: this.#random.between(0, 1_000_000) }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}

/** Finds how a name, or a member of one, is written. */
export function findWritten(node: Node, names: Names): Written | undefined {
  if (node.type === "Identifier") return names.get(node.name);
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return undefined;
  return findWritten(node.object, names)?.members?.get(node.property.name);
}

function escapeText(text: string, quote: string): string {
  const plain = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"');
  return plain.replaceAll(quote, `\\${quote}`).replaceAll("${", "\\${");
}
