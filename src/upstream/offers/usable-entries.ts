import { isObject } from "../../base/json.ts";
import { shorten } from "../../base/shorten.ts";
import { storableText } from "../../base/storable.ts";
import { toExact } from "../../base/visible.ts";

/** A list of a server: what its entries are, and the member that they are called by. */
interface EntryKind {
  readonly noun: "tool" | "prompt" | "resource" | "resource template";
  readonly key: "name" | "uri" | "uriTemplate";
}

export const ENTRY_KINDS = {
  tools: { noun: "tool", key: "name" },
  prompts: { noun: "prompt", key: "name" },
  resources: { noun: "resource", key: "uri" },
  resourceTemplates: { noun: "resource template", key: "uriTemplate" },
} as const satisfies Readonly<Record<string, EntryKind>>;

interface CheckedEntries<T> {
  readonly usable: readonly T[];
  /** A line for each of the others: which one, and why. */
  readonly leftOut: readonly string[];
}

/** Separates entries that break nothing from others. Lists arrive unchecked, and one bad entry must not cost the rest. */
export function checkEntries<T>(entries: readonly T[], kind: EntryKind): CheckedEntries<T> {
  const usable: T[] = [];
  const leftOut: string[] = [];
  for (const [index, given] of entries.entries()) {
    const entry = withoutNulls(given);
    const problem = findProblem(entry, kind);
    if (problem === undefined) usable.push(entry);
    else leftOut.push(`${kind.noun} ${nameEntry(entry, kind) ?? index + 1}: ${problem}`);
  }
  return { usable, leftOut };
}

function findProblem(entry: unknown, { noun, key }: EntryKind): string | undefined {
  if (!isObject(entry)) return "it is no object";
  const { [key]: called, name = "", title = "", description = "", inputSchema, outputSchema = {} } = entry;
  if (typeof called !== "string") return `its ${key} is no text`;
  // The database would keep it under another name, and decisions about it would not be found.
  if (storableText(called) !== called) return `its ${key} has a NUL or a lone surrogate`;
  const noText = Object.entries({ name, title, description }).find(([, text]) => typeof text !== "string");
  if (noText !== undefined) return `its ${noText[0]} is no text`;
  if (noun !== "tool") return undefined;
  return Object.entries({ inputSchema, outputSchema })
    .filter(([, schema]) => !isObject(schema))
    .map(([member]) => `its ${member} is no object`)[0];
}

const OPTIONAL = new Set(["title", "description", "outputSchema"]);

/** Some servers write null for what they leave out. */
function withoutNulls<T>(entry: T): T {
  if (!isObject(entry)) return entry;
  const members = Object.entries(entry);
  const present = members.filter(([key, item]) => item !== null || !OPTIONAL.has(key));
  return present.length === members.length ? entry : (Object.fromEntries(present) as T);
}

const LONGEST_NAME = 200;

function nameEntry(entry: unknown, { key }: EntryKind): string | undefined {
  const called = isObject(entry) ? entry[key] : undefined;
  return typeof called === "string" ? `"${toExact(shorten(called, LONGEST_NAME))}"` : undefined;
}
