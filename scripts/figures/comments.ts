import { parseSync } from "oxc-parser";

export interface SourceComment {
  /** One-based line of the comment's first character. */
  readonly line: number;
  /** Its words on one line, without the marks of a comment. */
  readonly text: string;
}

export type ProseProblem = "opening" | "whoever";

const OPENING = /^(what|whoever|whom|of|those)\b/i;
const WHOEVER = /\bwhoever\b/i;

/** Reads the comments of a file; line comments on consecutive lines count as one. */
export function readComments(file: string, text: string): SourceComment[] {
  const comments: (SourceComment & { isLine: boolean; lastLine: number })[] = [];
  for (const { type, value, start, end } of parseSync(file, text).comments) {
    const line = lineAt(text, start);
    const previous = comments.at(-1);
    const isLine = type === "Line";
    const standsAlone = text.slice(text.lastIndexOf("\n", start) + 1, start).trim() === "";
    if (isLine && standsAlone && previous?.isLine === true && previous.lastLine === line - 1) {
      comments.splice(-1, 1, { ...previous, text: `${previous.text} ${unmark(value)}`, lastLine: line });
    } else comments.push({ line, text: unmark(value), isLine, lastLine: lineAt(text, end) });
  }
  return comments.map(({ line, text: words }) => ({ line, text: words })).filter(({ text: words }) => words !== "");
}

/** Says which rule of the prose a comment breaks, if any. */
export function findProseProblem(comment: string): ProseProblem | undefined {
  if (OPENING.test(comment)) return "opening";
  return WHOEVER.test(comment) ? "whoever" : undefined;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function unmark(value: string): string {
  return value
    .split("\n")
    .map((line) => line.replace(/^\s*\*+\s?/, "").trim())
    .join(" ")
    .trim();
}
