import type { JsonSchema } from "../../base/json.ts";
import type { SchemaChange } from "./schema-diff.ts";

/** A larger lower bound or a smaller upper bound is stricter. */
const LOWER_BOUNDS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_BOUNDS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/** Keywords without an order: any change counts as stricter. */
const SHAPES = ["pattern", "format", "multipleOf", "uniqueItems"];

export function diffLimits(path: string, before: JsonSchema, after: JsonSchema): SchemaChange[] {
  const at = path === "" ? "the whole" : `"${path}"`;
  return [...LOWER_BOUNDS, ...UPPER_BOUNDS, ...SHAPES].flatMap((keyword): SchemaChange[] => {
    const [old, current] = [before[keyword], after[keyword]];
    if (old === current) return [];
    const words = `${keyword} of ${at} was ${say(old)} and is ${say(current)}`;
    return isStricter(keyword, old, current)
      ? [{ path, kind: "limit", breaking: true, explanation: `${words}: calls outside of it are refused` }]
      : [{ path, kind: "limit", breaking: false, explanation: `${words}: it takes more than before` }];
  });
}

function isStricter(keyword: string, before: unknown, after: unknown): boolean {
  if (after === undefined || after === false) return false;
  if (typeof before !== "number" || typeof after !== "number") return true;
  if (LOWER_BOUNDS.includes(keyword)) return after > before;
  return UPPER_BOUNDS.includes(keyword) ? after < before : true;
}

function say(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}
