import { type Comment, type OxcError, parseSync, type ParserOptions, type Program } from "oxc-parser";

interface ParserResult {
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly errors: readonly OxcError[];
}

/**
 * Parses a text and takes the tree out of the parser's answer: V8 keeps values behind the answer's getters alive until
 * the next full collection.
 */
export function parseText(text: string, options: ParserOptions): ParserResult {
  const { program, comments, errors } = parseSync("program.ts", text, options);
  return { program: { ...program, body: program.body.splice(0) }, comments, errors };
}
