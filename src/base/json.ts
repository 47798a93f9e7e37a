export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type JsonObject = Readonly<Record<string, JsonValue>>;

/** A JSON Schema, as far as it is looked into; everything else in it is kept. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** An object with members, neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
