/**
 * Counts the bytes of a value as JSON. Stops beyond the limit, so that a check whether something fits never measures
 * megabytes.
 */
export function jsonBytes(value: unknown, limit = Infinity): number {
  if (limit === Infinity) return Buffer.byteLength(JSON.stringify(value));
  if (typeof value === "string") return value.length > limit ? value.length : stringBytes(value);
  if (typeof value !== "object" || value === null) return String(value).length;
  return Array.isArray(value) ? arrayBytes(value, limit) : objectBytes(value, limit);
}

function arrayBytes(items: readonly unknown[], limit: number): number {
  let sum = Math.max(1, 2 - items.length);
  for (const item of items) {
    sum += jsonBytes(item, limit - sum) + 1;
    if (sum > limit) break;
  }
  return sum;
}

function objectBytes(value: object, limit: number): number {
  let sum = 1;
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    sum += stringBytes(key) + jsonBytes(item, limit - sum) + 2;
    if (sum > limit) break;
  }
  return Math.max(sum, 2);
}

function stringBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
