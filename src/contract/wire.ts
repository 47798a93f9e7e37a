import { z } from "zod";
import type { JsonValue } from "../base/json.ts";

export const jsonValue: z.ZodType<JsonValue, JsonValue> = z
  .lazy(() =>
    z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(jsonValue), z.record(z.string(), jsonValue)]),
  )
  .meta({ id: "JsonValue" });
export const jsonObject = z.record(z.string(), jsonValue);
/** A JSON Schema. */
export const jsonSchema = z.record(z.string(), z.unknown());
export const texts = z.array(z.string());
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
