/** Values that do not belong where they are put. */
import type { Random } from "./random.ts";

export type JsonFields = Record<string, unknown>;

export const ODD_NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "",
  " ",
  "\u0000",
  "../..",
  "💥",
];

export function oddValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => random.chance(50),
    () => random.pick([0, -1, 1.5, 2 ** 53, -(2 ** 63), 1e308, -0]),
    () => random.pick(["", "\u0000", "\ud800", "a\udc00b", "\u2028", "null", "x".repeat(random.between(1, 5_000))]),
    () => [],
    () => [[null]],
    () => ({}),
    () => ({ [random.pick(ODD_NAMES)]: random.pick(ODD_NAMES) }),
    () => nest(random.between(1, 200), random),
  ])();
}

function nest(depth: number, random: Random): unknown {
  let value: unknown = null;
  const asArray = random.chance(50);
  for (let level = 0; level < depth; level += 1) value = asArray ? [value] : { a: value };
  return value;
}

/** Built as text: it is too deep for JSON.stringify. */
export function nestText(depth: number, random: Random): string {
  return random.chance(50) ? "[".repeat(depth) + "]".repeat(depth) : `{"a":`.repeat(depth) + "0" + "}".repeat(depth);
}

/** Returns the paths of all values within a message. */
export function paths(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  return [[...path], ...Object.entries(value).flatMap(([key, item]) => paths(item, [...path, key]))];
}

export function replaceAt(message: JsonFields, path: readonly string[], value: unknown): JsonFields {
  const copy = structuredClone(message);
  let place: JsonFields = copy;
  for (const key of path.slice(0, -1)) place = place[key] as JsonFields;
  const last = path.at(-1);
  if (last !== undefined) place[last] = value;
  return copy;
}
