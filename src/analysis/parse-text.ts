import { createRequire } from "node:module";
import { parseSync, type ParseResult, type ParserOptions, rawTransferSupported } from "oxc-parser";

/** The parser writes the tree of a text up to this length where we read it; longer ones would keep too much memory in use. */
const MAX_SHARED = 100_000;

/** The parser has no type for what it calls an experiment. */
const SHARED = { experimentalRawTransfer: true };

/** Memory the parser shares with us. It makes 6 GB of addresses of it, few of which are ever used. */
interface SharedMemory {
  prepareRaw(text: string): { readonly buffer: object };
  returnBufferToCache(buffer: object): void;
}

/** Null: not here. Undefined: not asked for yet. */
let held: object | null | undefined;

/**
 * Reading the tree from shared memory takes an eighth of the time of reading it from JSON. What that cannot do (a tree too
 * deep for its recursion) or where it does not work, JSON does.
 */
export function parseText(text: string, options: ParserOptions): ParseResult {
  // Half of a surrogate pair is read differently, and a hash must not depend on that.
  if (text.length <= MAX_SHARED && text.isWellFormed()) {
    if (held === undefined) held = holdMemory();
    try {
      if (held !== null) return parseSync("program.ts", text, { ...options, ...SHARED });
    } catch {
      // Whatever it was, the other way finds it again.
    }
  }
  return parseSync("program.ts", text, options);
}

/**
 * The parser lets go of the memory after a while, and V8 collects all garbage when so much is asked for anew; so it is kept.
 * Windows would set aside all of it, and a small machine has no room for it.
 */
function holdMemory(): object | null {
  if (process.platform === "win32" || !rawTransferSupported()) return null;
  try {
    const memory = createRequire(import.meta.url)("oxc-parser/src-js/raw-transfer/common.js") as SharedMemory;
    const { buffer } = memory.prepareRaw("");
    memory.returnBufferToCache(buffer);
    return buffer;
  } catch {
    // There is another way.
    return null;
  }
}
