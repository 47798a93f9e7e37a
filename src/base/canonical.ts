/**
 * Encodes a value so that two values have one text only if they are the same: for ordinary JSON it is JSON with sorted
 * keys, and what JSON would write alike (`null` and the non-finite numbers, `0` and `-0`, big integers) has a word of
 * its own. A key without a value counts as absent. Rejects what has no content of its own, such as dates and functions.
 */
export function canonical(value: unknown): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "undefined":
      return "undefined";
    case "object":
      return value === null ? "null" : canonicalObject(value);
    case "function":
    case "symbol":
    default:
      throw new TypeError(`A ${typeof value} has no canonical form`);
  }
}

function canonicalObject(value: object): string {
  // Array.from fills holes, which join would write as nothing.
  if (Array.isArray(value)) return `[${Array.from(value, canonical).join(",")}]`;
  const kind = Object.prototype.toString.call(value);
  if (kind !== "[object Object]") throw new TypeError(`${kind} has no canonical form`);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
  return `{${entries.join(",")}}`;
}
