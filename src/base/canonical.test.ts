import { expect, test } from "vitest";
import { Random } from "../../test/support/random.ts";
import { canonical } from "./canonical.ts";
import { contentHash } from "./content-hash.ts";

/** The encoding of releases before canonical.ts; hashes made with it are stored. */
function earlierEncoding(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(earlierEncoding).join(",")}]`;
  if (typeof value !== "object" || value === null) return value === undefined ? "null" : JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${earlierEncoding(item)}`);
  return `{${entries.join(",")}}`;
}

const NUMBERS = [0, 1, -1, 0.1, 1e21, 1e-7, 123456789012345680000, 5e-324, Number.MAX_VALUE, 2 ** 53];
const TEXTS = ["", "a", "null", "\u0000", "\ud800", "\udc00a", "\u2028", '"', "\\ud800", "é", "😀", "__proto__", "1"];

function randomJson(random: Random, depth: number): unknown {
  const kind = random.between(0, depth === 0 ? 3 : 5);
  if (kind === 0) return random.pick(NUMBERS);
  if (kind === 1) return random.pick(TEXTS);
  if (kind === 2) return random.pick([true, false, null]);
  if (kind === 3) return random.between(-1e9, 1e9) / random.pick([1, 8, 1e5]) || 0; // no -0: earlier releases wrote 0
  const size = random.between(0, 3);
  if (kind === 4) return Array.from({ length: size }, () => randomJson(random, depth - 1));
  return Object.fromEntries(Array.from({ length: size }, () => [random.pick(TEXTS), randomJson(random, depth - 1)]));
}

test("canonical equals the earlier encoding for ordinary JSON, so that stored hashes stay valid", () => {
  const random = new Random(7);
  for (let round = 0; round < 3_000; round += 1) {
    const value = randomJson(random, 4);
    expect(canonical(value)).toBe(earlierEncoding(value));
  }
  const tool = { name: "read", inputSchema: { type: "object", properties: { b: { type: "string" }, a: {} } } };
  expect(contentHash(tool)).toBe("8d6a26cc394856a0fad52d0b80790a9a6f66ae7ea7dac5d79669188ee8bcc98c");
});

test("H2: canonical gives no two different values one text", () => {
  const values: unknown[] = [
    null,
    undefined,
    NaN,
    Infinity,
    -Infinity,
    0,
    -0,
    0n,
    -1n,
    1n,
    1,
    "1",
    "1n",
    "",
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "-0",
    true,
    "true",
    [],
    {},
    [null],
    [undefined],
    [[]],
    [[], []],
    [1, 2],
    ["1,2"],
    "[1,2]",
    "{}",
    { a: null },
    { a: [] },
    { a: { b: 1 } },
    { a: 1, b: 1 },
    { "a:1,b": 1 },
    { 'a":1,"b': 1 },
    "\ud800",
    "\udbff",
    "\udc00",
    "\ufffd",
    "\\ud800",
    "\u0000",
    "\\u0000",
    JSON.parse('{"__proto__":1}'),
    JSON.parse('{"__proto__":{}}'),
    { proto: 1 },
    { constructor: 1 },
    { toString: 1 },
    JSON.parse('{"a":1e999}'),
    { a: -0 },
    { a: 0 },
    { a: "0" },
  ];
  expect(new Set(values.map(canonical)).size).toBe(values.length);
});

test("canonical gives one value one text, whatever the order of keys and without keys that have no value", () => {
  expect(canonical({ b: [{ d: 1, c: 2 }], a: undefined })).toBe(canonical({ b: [{ c: 2, d: 1 }] }));
  expect(canonical(Object.assign(Object.create(null), { a: 1 }))).toBe(canonical({ a: 1 }));
});

test.each([[new Date()], [new Map()], [() => 1], [Symbol("a")], [/a/], [new Uint8Array(2)]])(
  "canonical rejects %s, whose content it cannot see",
  (value) => {
    expect(() => canonical({ a: [value] })).toThrow("no canonical form");
  },
);
