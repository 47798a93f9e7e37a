import { parseSync, type ParserOptions } from "oxc-parser";
import { SharedMemory, type SharedTree } from "./shared-memory.ts";

/** What texts up to this length need stays in use. */
const MAX_SHARED = 200_000;
/** The same for errors: there can be one at each token, and each has a copy of its line. */
const MAX_ERRORS = 1e7;

/** Null: there is none. Undefined: not asked for yet. */
let memory: SharedMemory | null | undefined;

/** A text, and of its lines the one with the most tokens times characters. */
export interface ScannedText {
  readonly text: string;
  readonly longestLine: number;
}

/** Reads the tree from memory shared with the parser, and where that does not go, from JSON; it is the same. */
export function parseText({ text, longestLine }: ScannedText, options: ParserOptions): SharedTree {
  if (memory === undefined) memory = SharedMemory.open() ?? null;
  // Half of a surrogate pair is read differently, and a hash must not depend on that.
  const canBeShared =
    text.length <= MAX_SHARED && text.length * Math.sqrt(longestLine) <= MAX_ERRORS && text.isWellFormed();
  try {
    if (memory !== null && canBeShared) return memory.parse(text, options);
  } catch {
    // The tree was too deep to be read; whatever else it was, the other way finds it again.
  }
  return parseToJson(text, options);
}

function parseToJson(text: string, options: ParserOptions): SharedTree {
  const { program, comments, errors } = parseSync("program.ts", text, options);
  // The answer of the parser stays until the next full collection, and with it what it leads to: the tree is taken out of it.
  return { program: { ...program, body: program.body.splice(0) }, comments, errors };
}
