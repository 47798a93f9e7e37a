import type { GuestError } from "../execution/worker-bridge.ts";
import type { JsonValue } from "../base/json.ts";

export interface ThrownError {
  readonly error: GuestError;
  readonly at?: { readonly line: number; readonly column: number };
}

/** Columns that the child adds before a program's first line: `() => (`. */
const ADDED_COLUMNS = 7;

/** Parses the guest's report of a thrown value; undefined if it is malformed. */
export function readThrown(value: unknown, fileName: string): ThrownError | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, message, stack, code, data } = value as Record<string, unknown>;
  if (typeof name !== "string" || typeof message !== "string" || typeof stack !== "string") return undefined;
  const at = findPosition(stack, fileName);
  return {
    error: {
      name,
      message: addHint(message),
      ...(typeof code === "string" ? { code } : {}),
      ...(data === undefined ? {} : { data: data as JsonValue }),
    },
    ...(at === undefined ? {} : { at }),
  };
}

/** Returns the position of the topmost stack frame in the program. */
function findPosition(stack: string, fileName: string): ThrownError["at"] {
  for (let from = stack.indexOf(`${fileName}:`); from !== -1; from = stack.indexOf(`${fileName}:`, from + 1)) {
    const found = /^(\d{1,9}):(\d{1,9})/.exec(stack.slice(from + fileName.length + 1, from + fileName.length + 21));
    if (found === null) continue;
    const line = Number(found[1]);
    const column = Number(found[2]) - (line === 1 ? ADDED_COLUMNS : 0);
    return { line, column: Math.max(column, 1) };
  }
  return undefined;
}

const NO_NETWORK = "there is no network in PML code; call a tool: await mcp.<server>.<tool>(args)";
const NO_SYSTEM = "there are no files and processes in PML code; call a tool: await mcp.<server>.<tool>(args)";
const NO_MODULES =
  "there are no modules in PML code; use what JavaScript has, or call a tool: await mcp.<server>.<tool>(args)";
const NO_INTERVAL = "use a loop with: await sleep(ms)";

/** Globals that agents use out of habit, and their replacements. */
const HINTS: Readonly<Record<string, string>> = {
  fetch: NO_NETWORK,
  XMLHttpRequest: NO_NETWORK,
  WebSocket: NO_NETWORK,
  process: NO_SYSTEM,
  Buffer: "use TextEncoder, TextDecoder, atob and btoa",
  Deno: NO_SYSTEM,
  Bun: NO_SYSTEM,
  fs: NO_SYSTEM,
  require: NO_MODULES,
  module: NO_MODULES,
  setInterval: NO_INTERVAL,
  setImmediate: NO_INTERVAL,
  window: "use globalThis",
  global: "use globalThis",
  document: "there are no pages in PML code; call a tool: await mcp.<server>.<tool>(args)",
};

/** Instrumentation around a callee; V8 shows it in "… is not a function". */
const MARK = "__pml.call(...)";

function addHint(given: string): string {
  const message = given.replace(MARK, "what is called");
  if (message === "Not supported" || message.startsWith("could not load module")) return `${message}: ${NO_MODULES}`;
  const name = /(?:^|\.)'?(\w+)'? is not (?:defined|a function)/.exec(message)?.[1];
  const hint = name === undefined || !Object.hasOwn(HINTS, name) ? undefined : HINTS[name];
  return hint === undefined ? message : `${message}: ${hint}`;
}
