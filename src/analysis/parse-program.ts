import type { BlockStatement, Comment, Node, OxcError, Statement } from "oxc-parser";
import { MAX_CHECKED_LENGTH, MAX_CHECKED_LINE, MAX_NESTING, type NestingProblem } from "./nesting-level.ts";
import { scanNesting } from "./nesting.ts";
import { parseText } from "./parse-tree.ts";
import type { ProgramProblem } from "./problem.ts";
import { WRAPPER_START } from "./source-text.ts";

const WRAPPER_END = "\n}}";

export interface ParsedProgram {
  /** The program in its wrapper; all offsets refer to this text. */
  readonly text: string;
  readonly root: Node;
  readonly body: readonly Statement[];
  readonly comments: readonly Comment[];
}

export type ParseOutcome =
  | { readonly kind: "parsed"; readonly program: ParsedProgram }
  | { readonly kind: "problem"; readonly problem: ProgramProblem };

export function parseProgram(source: string): ParseOutcome {
  const { problem: nesting, longestLine } = scanNesting(source);
  if (nesting !== undefined) return { kind: "problem", problem: describeNesting(nesting) };
  const text = WRAPPER_START + source + WRAPPER_END;
  const { program, comments, errors } = parseText(text, {
    lang: "ts",
    sourceType: "module",
    preserveParens: true,
    showSemanticErrors: longestLine <= MAX_CHECKED_LINE && source.length <= MAX_CHECKED_LENGTH,
  });
  const statements = program.body;
  const [error] = errors;
  const block = findBlock(statements);
  if (block !== undefined && block.end < text.length - 1)
    return { kind: "problem", problem: strayBrace(block.end - 1) };
  if (error !== undefined) {
    const problem = describeError(error);
    // Moves an error at the end of the wrapper into the last line that has text.
    const end = WRAPPER_START.length + source.trimEnd().length;
    return { kind: "problem", problem: { ...problem, offset: Math.min(problem.offset, end) } };
  }
  if (block === undefined || statements.length !== 1) {
    return { kind: "problem", problem: strayBrace(WRAPPER_START.length) };
  }
  return { kind: "parsed", program: { text, root: block, body: block.body, comments } };
}

function describeError({ message, labels, helpMessage }: OxcError): ProgramProblem {
  // Points at the second of two declarations.
  const label = message.includes("already been declared") ? labels.at(-1) : labels[0];
  return { offset: label?.start ?? WRAPPER_START.length, message, ...(helpMessage !== null && { hint: helpMessage }) };
}

/** Finds the block of the wrapper that holds the program. */
function findBlock([statement]: readonly Statement[]): BlockStatement | undefined {
  const arrow = statement?.type === "ExpressionStatement" ? statement.expression : undefined;
  const body = arrow?.type === "ArrowFunctionExpression" ? arrow.body : undefined;
  const block = body?.type === "BlockStatement" ? body.body[1] : undefined;
  return block?.type === "BlockStatement" && block.start === WRAPPER_START.length - 1 ? block : undefined;
}

function strayBrace(offset: number): ProgramProblem {
  return {
    offset,
    message: "Unexpected `}`: nothing is open that it could close",
    hint: "Submit the body of an async function: statements, `await` and `return`.",
  };
}

function describeNesting({ offset, reason }: NestingProblem): ProgramProblem {
  const at = offset + WRAPPER_START.length;
  if (reason === "too_deep") {
    return {
      offset: at,
      message: `The program is nested too deeply here: more than ${MAX_NESTING} levels`,
      hint: "Move inner parts into separate functions or constants.",
    };
  }
  if (reason === "long_line") {
    return { offset: at, message: "The line is too long", hint: "Break it into several lines." };
  }
  if (reason === "stray_brace") return strayBrace(at);
  if (reason === "html_comment") {
    return { offset: at, message: "`<!--` starts an HTML comment", hint: "Put spaces between the operators." };
  }
  return {
    offset: at,
    message: "`/` after `}` can be a division or start a regular expression",
    hint: "Put the regular expression into a constant.",
  };
}
