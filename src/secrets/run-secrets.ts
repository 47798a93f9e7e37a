import { isObject, type JsonSchema, type JsonValue } from "../base/json.ts";
import { createFinder, holdsEncoded } from "./encodings.ts";
import { isPlaceholder, isSearchable, namesSecret, PLACEHOLDERS, SHORTEST_SECRET_TEXT } from "./secret-words.ts";
import { combinedSchemas, hasSecretPart, isSecretSchema } from "./secret-schema.ts";
import type { Secrets } from "./secrets.ts";
import type { ValueFinder } from "./value-finder.ts";

/** A field that can be hidden. */
type Field = string | number;
/** Originals by placeholder. */
type Originals = Map<string, Field>;

/** More would only serve to slow down the search. */
const MOST_SEARCHED = 100;
/** A shorter number is hidden below its name and nowhere else: others have nothing to do with it. */
const SHORTEST_NUMBER = 6;

/**
 * The secrets of one run or call: what its arguments name, what looks like one, and everything the gateway knows. Hides
 * them in what is stored, and gives a run that goes on its originals back.
 */
export class RunSecrets {
  /** Hidden parts of the program, to be sealed with the arguments. */
  program: readonly JsonValue[] = [];
  readonly #gateway: Secrets;
  /** Hidden wherever they are the whole of a field. */
  readonly #whole = new Set<Field>();
  readonly #searched = new Set<string>();
  /** Originals of sealed parts that were opened. */
  readonly #opened: Originals = new Map();
  #finder: ValueFinder | undefined;

  constructor(gateway: Secrets) {
    this.#gateway = gateway;
  }

  /** Learns the arguments that are secret by their name or by the tool's schema. */
  learn(args: unknown, schema?: JsonSchema): void {
    if (schema !== undefined && hasSecretPart(schema)) this.#learnBySchema(args as JsonValue, schema);
    this.#walk(args as JsonValue, NO_ORIGINALS);
  }

  /** Learns the hidden parts of the program. */
  learnProgram({ parts, values }: { readonly parts: readonly JsonValue[]; readonly values: readonly string[] }): void {
    this.program = parts;
    for (const value of values) this.#add(value);
    for (const part of parts) {
      if (typeof part === "string") this.#add(part);
      else this.learn(part);
    }
  }

  /** Returns the same value if it holds no secret. */
  hide<T>(value: T): T {
    return this.#walk(value as JsonValue, NO_ORIGINALS) as T;
  }

  /** Hides secrets and seals them, so that the same run can get them back. */
  seal<T>(value: T, context: readonly string[]): { readonly value: T; readonly sealed?: string } {
    const originals: Originals = new Map();
    const hidden = this.#walk(value as JsonValue, originals) as T;
    if (originals.size === 0) return { value: hidden };
    return { value: hidden, sealed: this.#gateway.seal(JSON.stringify([...originals]), context) };
  }

  /** Opens sealed originals and learns them again. */
  open(sealed: string, context: readonly string[]): void {
    for (const [placeholder, original] of JSON.parse(this.#gateway.open(sealed, context)) as [string, Field][]) {
      this.#opened.set(placeholder, original);
      this.#add(original);
    }
  }

  /** Puts the opened originals in the place of their placeholders. */
  restore<T>(value: T): T {
    return this.#opened.size === 0 ? value : (restore(value as JsonValue, this.#opened) as T);
  }

  #add(value: Field): void {
    const text = String(value);
    if (text === "" || this.#whole.has(value) || isPlaceholder(text)) return;
    this.#whole.add(value);
    if (!isSearchable(text) || this.#searched.size >= MOST_SEARCHED) return;
    this.#searched.add(text);
    this.#finder = createFinder(this.#searched);
  }

  #learnBySchema(value: JsonValue, schema: JsonSchema): void {
    if (isSecretSchema(schema)) for (const field of fieldsOf(value)) this.#add(field);
    for (const part of combinedSchemas(schema)) this.#learnBySchema(value, part);
    const { properties, items } = schema;
    if (Array.isArray(value) && isObject(items)) for (const item of value) this.#learnBySchema(item, items);
    if (!isObject(value) || !isObject(properties)) return;
    for (const [name, part] of Object.entries(properties)) {
      if (isObject(part) && Object.hasOwn(value, name)) this.#learnBySchema(value[name] as JsonValue, part);
    }
  }

  #walk(value: JsonValue, originals: Originals): JsonValue {
    if (typeof value === "string" || typeof value === "number") return this.#hideField(value, originals);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item: JsonValue) => this.#walk(item, originals));
      return items.every((item, index) => item === value[index]) ? value : items;
    }
    const members = Object.entries(value);
    const hidden = members.map(([key, item]): [string, JsonValue] => [
      this.#hideText(key, originals),
      namesSecret(key) ? this.#walkSecret(item, originals) : this.#walk(item, originals),
    ]);
    const isSame = hidden.every(([key, item], index) => key === members[index]?.[0] && item === members[index][1]);
    return isSame ? value : Object.fromEntries(hidden);
  }

  #hideField(value: Field, originals: Originals): Field {
    if (this.#whole.has(value)) return this.#name(value, originals);
    return typeof value === "string" ? this.#hideText(value, originals) : value;
  }

  /** Hides every text and number below a field whose name says that it is secret. */
  #walkSecret(value: JsonValue, originals: Originals): JsonValue {
    if (typeof value === "string") {
      if (value === "" || isPlaceholder(value)) return value;
      this.#add(value);
      return this.#name(value, originals);
    }
    if (typeof value === "number") {
      if (String(value).length >= SHORTEST_NUMBER) this.#add(value);
      return this.#name(value, originals);
    }
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.#walkSecret(item, originals));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#walkSecret(item, originals)]));
  }

  #hideText(text: string, originals: Originals): string {
    if (text.length < SHORTEST_SECRET_TEXT) return text;
    if (this.#gateway.holdsEncoded(text) || (this.#finder !== undefined && holdsEncoded(text, this.#finder)))
      return this.#name(text, originals);
    const name = (found: string): string => this.#name(found, originals);
    return this.#gateway.hideText(this.#finder === undefined ? text : this.#finder.replace(text, name), name);
  }

  #name(value: Field, originals: Originals): string {
    const placeholder = this.#gateway.placeholderOf(String(value));
    if (originals !== NO_ORIGINALS) originals.set(placeholder, value);
    return placeholder;
  }
}

const NO_ORIGINALS: Originals = new Map();

function fieldsOf(value: JsonValue): Field[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(fieldsOf);
  return typeof value === "string" || typeof value === "number" ? [value] : [];
}

function restore(value: JsonValue, originals: Originals): JsonValue {
  if (typeof value === "string") return restoreText(value, originals);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => restore(item, originals));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [String(restoreText(key, originals)), restore(item, originals)]),
  );
}

function restoreText(text: string, originals: Originals): Field {
  if (!text.includes("‹")) return text;
  return originals.get(text) ?? text.replace(PLACEHOLDERS, (found) => String(originals.get(found) ?? found));
}
