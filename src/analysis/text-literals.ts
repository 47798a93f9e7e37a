import { visitorKeys } from "oxc-parser";
import { parseProgram } from "./parse-program.ts";
import { WRAPPER_START } from "./source-text.ts";
import type { Node } from "./syntax-tree.ts";

/** A whole literal of text in a program: its place with quotes, and its value. */
export interface TextLiteral {
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** Finds strings, and templates without expressions, in the order of the text; none in text that cannot be parsed. */
export function findTextLiterals(source: string): TextLiteral[] {
  const outcome = parseProgram(source);
  if (outcome.kind === "problem") return [];
  const found: TextLiteral[] = [];
  const waiting: Node[] = [...outcome.program.body];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const value = textOf(node);
    if (value !== undefined) {
      found.push({ start: node.start - WRAPPER_START.length, end: node.end - WRAPPER_START.length, value });
    }
    waiting.push(...childrenOf(node));
  }
  return found.toSorted((a, b) => a.start - b.start);
}

function textOf(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral" || node.expressions.length > 0) return undefined;
  return node.quasis[0]?.value.cooked ?? undefined;
}

function childrenOf(node: Node): Node[] {
  const fields = new Map<string, unknown>(Object.entries(node));
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const child = fields.get(key) as Node | null | undefined | readonly (Node | null)[];
    return [child ?? []].flat().filter((each) => each !== null);
  });
}
