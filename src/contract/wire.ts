import { z } from "zod";
import type { JsonValue } from "../base/json.ts";
import { TEXT_LIMITS } from "../registry/record-words.ts";

/**
 * Any JSON, unchecked: values come from a parser of JSON, and a check of every part would take the serving thread longer
 * than parsing it.
 */
export const jsonValue = z.unknown().meta({ id: "JsonValue" }) as z.ZodType<JsonValue, JsonValue>;
export const jsonObject = z.record(z.string(), jsonValue);
/** A JSON Schema. */
export const jsonSchema = z.record(z.string(), z.unknown());
export const texts = z.array(z.string());
export const intent = z.string().min(1).max(TEXT_LIMITS.intent);
export const description = z.string().max(TEXT_LIMITS.description);
export const changeSummary = z.string().max(TEXT_LIMITS.changeSummary);
export const tags = z.array(z.string().min(1).max(TEXT_LIMITS.tag)).max(TEXT_LIMITS.tags);
/** ISO 8601, in UTC. */
export const instant = z.iso.datetime();
export const count = z.number().int().min(0);

export const scope = z.object({ org: z.string(), project: z.string() });

type Scalar = string | number | boolean | bigint | null | undefined;

/** The type with everything in it read-only: the contract's schemas infer mutable lists. */
type Frozen<T> = T extends Scalar
  ? T
  : unknown extends T
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Frozen<Item>[]
      : { readonly [Key in keyof T]: Frozen<T[Key]> };

/** JSON has no `undefined`: a member that was left out is absent. */
type Defined<T> = T extends Scalar
  ? T
  : unknown extends T
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Defined<Item>[]
      : { readonly [Key in keyof T]: Defined<Exclude<T[Key], undefined>> };

/** The type as JSON.stringify takes it: a Date becomes the text of its instant. */
export type Serialisable<T> = T extends string
  ? string extends T
    ? string | Date
    : T
  : T extends Scalar
    ? T
    : unknown extends T
      ? T
      : T extends readonly (infer Item)[]
        ? readonly Serialisable<Item>[]
        : { readonly [Key in keyof T]: Serialisable<T[Key]> };

/** A request or an answer as its author writes it; defaults may be left out. */
export type Sent<Schema extends z.ZodType> = Frozen<z.input<Schema>>;
/** An answer as its reader receives it. */
export type Received<Schema extends z.ZodType> = Defined<z.output<Schema>>;
