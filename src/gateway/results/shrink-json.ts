import { allot } from "./allot.ts";
import { jsonBytes } from "./json-size.ts";
import { type SchemaView, viewSchema } from "./schema-view.ts";

/** An omission and its place. */
export interface Cut {
  /** In the notation of code: `items[3].text`. */
  readonly path: string;
  readonly kept: number;
  readonly of: number;
  readonly unit: "characters" | "items" | "keys" | "bytes";
}

export interface Shrunk {
  readonly value: unknown;
  readonly cuts: readonly Cut[];
}

export interface ShrinkOptions {
  readonly maxBytes: number;
  /** The value's path in a larger one. */
  readonly path?: string;
  /**
   * Constrains the shrunk value: required keys stay, and no note replaces an omission. Without a schema, lists and
   * objects say themselves what they lack.
   */
  readonly schema?: unknown;
}

/** Cuts long texts and lists and drops keys of large objects; everything else stays. */
export function shrinkJson(value: unknown, { maxBytes, path = "", schema }: ShrinkOptions): Shrunk {
  const shrinker = new Shrinker(schema !== undefined);
  const shrunk = shrinker.shrink(value, maxBytes, { path, schema: viewSchema(schema) });
  return { value: shrunk, cuts: shrinker.cuts };
}

interface Place {
  readonly path: string;
  readonly schema: SchemaView;
}

/** Cutting an id or a date saves nothing and breaks it. */
const SHORT_TEXT_BYTES = 64;
/** Below this size, an object or list is replaced by a note of its length. */
const SMALLEST_CONTAINER_BYTES = 64;
const SUMMARY_BYTES = 24;
const MARKER_BYTES = 40;

class Shrinker {
  cuts: Cut[] = [];
  readonly #strict: boolean;

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  shrink(value: unknown, maxBytes: number, place: Place): unknown {
    if (jsonBytes(value, maxBytes) <= maxBytes) return value;
    if (typeof value === "string") return this.#shrinkText(value, maxBytes, place);
    if (typeof value !== "object" || value === null) return value;
    if (!this.#strict && maxBytes < SMALLEST_CONTAINER_BYTES) return this.#summarise(value, place);
    return Array.isArray(value)
      ? this.#shrinkArray(value, maxBytes, place)
      : this.#shrinkObject(value as Record<string, unknown>, maxBytes, place);
  }

  #shrinkText(text: string, maxBytes: number, { path }: Place): string {
    if (jsonBytes(text, SHORT_TEXT_BYTES) <= SHORT_TEXT_BYTES) return text;
    const { shown, kept } = cutText(text, Math.max(maxBytes, SHORT_TEXT_BYTES));
    this.#note({ path, kept, of: text.length, unit: "characters" });
    return shown;
  }

  #summarise(value: object, { path }: Place): string {
    const unit = Array.isArray(value) ? "items" : "keys";
    const of = Object.keys(value).length;
    this.#note({ path, kept: 0, of, unit });
    return `… ${of} ${unit}`;
  }

  #shrinkArray(items: readonly unknown[], maxBytes: number, { path, schema }: Place): unknown[] {
    const kept = fillInOrder({
      items,
      room: maxBytes - MARKER_BYTES,
      shrink: (item, room, index) => this.shrink(item, room, { path: `${path}[${index}]`, schema: schema.items }),
    });
    if (kept.length === items.length) return kept;
    this.#forget(`${path}[${kept.length}]`); // the last item was shrunk and still had no room
    this.#note({ path, kept: kept.length, of: items.length, unit: "items" });
    return this.#strict ? kept : [...kept, `… ${items.length - kept.length} more items`];
  }

  #shrinkObject(value: Record<string, unknown>, maxBytes: number, { path, schema }: Place): Record<string, unknown> {
    const entries = Object.entries(value);
    const kept = this.#chooseKeys(entries, maxBytes - MARKER_BYTES, schema.required);
    const keyBytes = kept.reduce((sum, [key]) => sum + jsonBytes(key) + 2, 0);
    const rooms = allot(
      kept.map(([, item]) => jsonBytes(item, maxBytes)),
      maxBytes - MARKER_BYTES - keyBytes,
    );
    const shrunk = kept.map(([key, item], index): [string, unknown] => [
      key,
      this.shrink(item, rooms[index] ?? 0, { path: joinPath(path, key), schema: schema.property(key) }),
    ]);
    if (kept.length === entries.length) return Object.fromEntries(shrunk);
    this.#note({ path, kept: kept.length, of: entries.length, unit: "keys" });
    const marker: [string, unknown][] = this.#strict ? [] : [["…", `${entries.length - kept.length} more keys`]];
    return Object.fromEntries([...shrunk, ...marker]);
  }

  /** Keeps all keys, unless there are so many that not even the beginnings of their values have room. */
  #chooseKeys(entries: readonly [string, unknown][], room: number, required: ReadonlySet<string>): [string, unknown][] {
    const least = ([key, item]: [string, unknown]): number => jsonBytes(key) + 2 + this.#leastBytes(item);
    let left = room;
    for (const entry of entries) if (required.has(entry[0])) left -= least(entry);
    return entries.filter((entry) => {
      if (required.has(entry[0])) return true;
      left -= least(entry);
      return left >= 0;
    });
  }

  #leastBytes(value: unknown): number {
    const canBeSummary = !this.#strict && typeof value === "object";
    const most = canBeSummary ? SUMMARY_BYTES : SHORT_TEXT_BYTES;
    return Math.min(jsonBytes(value, most), most);
  }

  #note(cut: Cut): void {
    this.cuts.push(cut);
  }

  #forget(prefix: string): void {
    this.cuts = this.cuts.filter(({ path }) => !path.startsWith(prefix));
  }
}

export interface Filling<T> {
  readonly items: readonly T[];
  readonly room: number;
  readonly shrink: (item: T, room: number, index: number) => T;
}

/** Up to this number, items share the room evenly; of a longer list the first ones stay whole where possible. */
const FEW_ITEMS = 8;

/** Keeps as many items as fit, from the first on, and shrinks large ones. */
export function fillInOrder<T>({ items, room, shrink }: Filling<T>): T[] {
  const sizeOf = (item: T): number => jsonBytes(item, Math.max(0, room));
  const shares = items.length <= FEW_ITEMS ? allot(items.map(sizeOf), room - items.length) : undefined;
  const kept: T[] = [];
  let left = room;
  for (const [index, item] of items.entries()) {
    const share = shares?.[index] ?? room / FEW_ITEMS;
    if (shares === undefined && sizeOf(item) <= share && sizeOf(item) > left) break;
    const shrunk = shrink(item, Math.min(share, left), index);
    left -= sizeOf(shrunk) + 1;
    if (left < 0) break;
    kept.push(shrunk);
  }
  return kept;
}

/** Cuts a text to a number of bytes of JSON, the note about the rest included. */
export function cutText(text: string, maxBytes: number): { shown: string; kept: number } {
  const shownOf = (kept: number): string => `${text.slice(0, kept)}… [${text.length - kept} more characters]`;
  let fits = 0;
  let tooLong = Math.min(text.length, maxBytes) + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (jsonBytes(shownOf(middle)) <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  const kept = isHighSurrogate(text.charCodeAt(fits - 1)) ? fits - 1 : fits;
  return { shown: shownOf(kept), kept };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}
