import type { JsonValue } from "../base/json.ts";

/** A value of the same shape that says nothing about the one it is made from: `#W48` becomes `#X00`. */
export function syntheticExample(value: JsonValue): JsonValue {
  if (typeof value === "string")
    return value
      .replaceAll(/\p{Ll}|\p{Lo}/gu, "x")
      .replaceAll(/\p{Lu}/gu, "X")
      .replaceAll(/\d/g, "0");
  if (typeof value === "number") return Number.isInteger(value) ? 1 : 1.5;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, 1).map((each) => syntheticExample(each as JsonValue));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, syntheticExample(each)]));
}
