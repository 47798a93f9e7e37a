import { expect, test } from "vitest";
import { shrinkJson } from "./shrink-json.ts";

function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `row ${id}`, done: id % 2 === 0, note: null }));

test("shrinkJson leaves alone what fits", () => {
  const value = { a: [1, "x", null], b: "é" };
  expect(shrinkJson(value, { maxBytes: bytes(value) })).toEqual({ value, cuts: [] });
});

test("shrinkJson cuts a text to the bytes it may have and says how much is missing", () => {
  for (const text of ["plain ".repeat(10_000), 'é😀\u0001"'.repeat(5_000)]) {
    const { value, cuts } = shrinkJson(text, { maxBytes: 1_000 });
    const [, shown = "", missing] = /^(.*)… \[(\d+) more characters\]$/s.exec(String(value)) ?? [];
    expect(bytes(value)).toBeLessThanOrEqual(1_000);
    expect(bytes(value)).toBeGreaterThan(980);
    expect(text.startsWith(shown)).toBe(true);
    expect(shown.isWellFormed()).toBe(true);
    expect(shown.length + Number(missing)).toBe(text.length);
    expect(cuts).toEqual([{ path: "", kept: shown.length, of: text.length, unit: "characters" }]);
  }
});

test("shrinkJson keeps the first items of a long list whole and counts the others", () => {
  const { value, cuts } = shrinkJson({ rows, total: rows.length }, { maxBytes: 4_000 });
  const { rows: kept, total } = value as { rows: unknown[]; total: number };
  const [{ kept: count } = { kept: 0 }] = cuts;
  expect(total).toBe(5_000);
  expect(count).toBeGreaterThan(50);
  expect(kept).toEqual([...rows.slice(0, count), `… ${5_000 - count} more items`]);
  expect(cuts).toEqual([{ path: "rows", kept: count, of: 5_000, unit: "items" }]);
  expect(bytes(value)).toBeLessThanOrEqual(4_000);
});

test("shrinkJson keeps small values of an object whole and shares the rest among the large ones", () => {
  const value = { id: "a1b2", first: "x".repeat(50_000), "second text": "y".repeat(90_000), ok: true };
  const shrunk = shrinkJson(value, { maxBytes: 2_000 });
  expect(shrunk.value).toMatchObject({ id: "a1b2", ok: true });
  expect(shrunk.cuts.map(({ path }) => path)).toEqual(["first", '["second text"]']);
  for (const { kept } of shrunk.cuts) expect(kept).toBeGreaterThan(850);
  expect(bytes(shrunk.value)).toBeLessThanOrEqual(2_000);
});

test("shrinkJson cuts the keys of an object that has very many, and says how many", () => {
  const value = Object.fromEntries(rows.map((row) => [`key ${row.id}`, row]));
  const { value: shrunk, cuts } = shrinkJson(value, { maxBytes: 3_000 });
  const keys = Object.keys(shrunk as object);
  expect(keys.slice(0, 2)).toEqual(["key 0", "key 1"]);
  expect((shrunk as Record<string, unknown>)["…"]).toBe(`${5_000 - (keys.length - 1)} more keys`);
  expect(cuts.at(-1)).toMatchObject({ path: "", kept: keys.length - 1, of: 5_000, unit: "keys" });
  expect(bytes(shrunk)).toBeLessThanOrEqual(3_000);
});

test("shrinkJson sums up what is deep inside when there is no room for it", () => {
  const deep = (level: number): unknown => ({
    level,
    text: "t".repeat(300),
    next: level === 0 ? rows : deep(level - 1),
  });
  const { value, cuts } = shrinkJson(deep(20), { maxBytes: 1_500 });
  expect(bytes(value)).toBeLessThanOrEqual(1_500);
  expect(JSON.stringify(value)).toMatch(/"next":"… 3 keys"/);
  expect(cuts.at(-1)).toMatchObject({ path: expect.stringMatching(/^next(\.next)*$/), kept: 0, of: 3, unit: "keys" });
});

test("shrinkJson with a schema keeps required keys, drops others, and adds nothing", () => {
  const schema = {
    $defs: { row: { type: "object", required: ["id", "name"] } },
    type: "object",
    required: ["rows"],
    properties: { rows: { type: "array", items: { $ref: "#/$defs/row" } }, extra: { type: "object" } },
  };
  const wide = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`more ${index}`, "m".repeat(50)]));
  const value = { extra: wide, rows: Array.from({ length: 9 }, (_, id) => ({ ...wide, id, name: "n".repeat(9_000) })) };
  const { value: shrunk, cuts } = shrinkJson(value, { maxBytes: 4_000, schema });
  const { rows: kept } = shrunk as { rows: Record<string, unknown>[] };
  expect(bytes(shrunk)).toBeLessThanOrEqual(4_000);
  expect(kept.length).toBeGreaterThan(1);
  for (const row of kept) expect(row).toMatchObject({ id: expect.any(Number), name: expect.stringContaining("nnn") });
  expect(JSON.stringify(shrunk)).not.toMatch(/more items|more keys/);
  expect(cuts.map(({ unit }) => unit)).toContain("keys");
});
