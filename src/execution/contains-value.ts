import { canonical } from "../base/canonical.ts";
import type { JsonValue } from "../base/json.ts";

/** Parts of longer results are not looked for. */
const LONGEST = 200_000;

/**
 * True if everything in `part` is in `whole`: programs of one behaviour wrap the results of their calls, or pick from
 * them, in ways of their own.
 */
export function containsValue(whole: JsonValue, part: JsonValue): boolean {
  const text = canonical(whole);
  if (text.length > LONGEST) return text === canonical(part);
  const known = new Set<string>();
  collect(whole, known);
  return isCovered(part, known);
}

function collect(value: JsonValue, into: Set<string>): void {
  into.add(canonical(value));
  if (typeof value === "object" && value !== null) for (const each of Object.values(value)) collect(each, into);
}

function isCovered(value: JsonValue, known: ReadonlySet<string>): boolean {
  if (value === null || known.has(canonical(value))) return true;
  return typeof value === "object" && Object.values(value).every((each) => isCovered(each, known));
}
