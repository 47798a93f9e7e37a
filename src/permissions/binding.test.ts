import { describe, expect, test } from "vitest";
import { Random } from "../../test/support/random.ts";
import type { JsonValue } from "../base/json.ts";
import { Secrets } from "../secrets/secrets.ts";
import { bindArgs, type Binding, bindText, hashBinding, hashRule } from "./binding.ts";
import { EFFECTS } from "./effect.ts";
import { renderQuestion } from "./render-question.ts";
import { showBinding } from "./show-binding.ts";

const TEXTS = [
  "",
  "a",
  "b",
  "null",
  "1e999",
  "a\nb",
  "a\\nb",
  "a\r\nb",
  "a\u200bb",
  "a\\u200bb",
  "a\u27e6U+200B\u27e7b",
  "a b",
  "a\u00a0b",
  "\ud800",
  "\udc00",
  "\ufffd",
  "\u0000",
  "\\u0000",
  "\u2039secret, 1 chars, #a\u203a",
  "a | b",
  "  1 | a",
  "a\n  2 | b",
  'const a = "sk-live-aaaaaaaaaaaaaaaaaaaaaaaa"',
  'const a = "sk-live-aaaaaaaaaaaaaaaaaaaaaaab"',
  "# Facts, from PML",
];
const ARGS: readonly JsonValue[] = [
  ...TEXTS.map((text) => ({ a: text })),
  {},
  { a: null },
  { a: 0 },
  { a: "0" },
  { a: [] },
  { a: {} },
  { a: [1, 2] },
  { a: [[1], 2] },
  { b: null },
  { a: false },
  { password: "one" },
  { password: "two" },
  { password: ["one"] },
  { a: { b: 1 } },
  { a: 1, b: 2 },
  { 'a":1,"b': 2 },
  JSON.parse('{"__proto__": 1}') as JsonValue,
];
const NAMES = ["local", "other", "", "a / b", "a", "b\n  tool x", 'q"', "a:b", "a:b (read)", "__proto__"];
const HASHES = ["h1", "h2", "h1\n"];

function randomBinding(random: Random): Binding {
  const list = <T>(make: () => T): T[] => Array.from({ length: random.between(0, 2) }, make);
  const program = () => ({
    kind: random.pick(["code", "code", "code", "dag"] as const),
    ...bindText(random.pick(TEXTS)),
  });
  const json = () => ({ kind: "dag" as const, ...bindText(JSON.stringify(random.pick(TEXTS))) });
  const text = () => (random.chance(80) ? { ...program(), kind: "code" as const } : json());
  return {
    scope: { org: random.pick(NAMES), project: random.pick(NAMES) },
    principal: random.pick(NAMES),
    program: text(),
    nested: list(() => ({
      caller: random.pick(["", "1 1", "2 1"]),
      name: random.pick(NAMES),
      id: random.pick(["1", "2"]),
      version: random.between(1, 3),
      ...text(),
    })),
    missing: list(() => random.pick(NAMES)),
    tools: [...new Set(list(() => random.pick(NAMES)))].map((id) => ({
      id,
      schemaHash: random.pick(HASHES),
      effect: random.pick(EFFECTS),
    })),
    dynamicCalls: list(() => bindText(random.pick(TEXTS))),
    ...(random.chance(80) ? { args: bindArgs(random.pick(ARGS)) } : {}),
    ...(random.chance(20)
      ? {
          call: {
            runId: random.pick(["r1", "r2"]),
            tool: random.pick(NAMES),
            ...(random.chance(50) ? { seq: 1 } : {}),
          },
        }
      : {}),
  };
}

/** Replaces one part of a binding by that of another. */
function changeOne(random: Random, binding: Binding, other: Binding): Binding {
  const key = random.pick(Object.keys(other) as (keyof Binding)[]);
  return { ...binding, [key]: other[key] };
}

/** Equal content in other objects, with other orders of keys and tools. */
function rebuild(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rebuild);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, key === "tools" ? (item as unknown[]).toReversed().map(rebuild) : rebuild(item)]),
  );
}

const { placeholderOf } = new Secrets(() => new Uint8Array(32));

function render(binding: Binding): string {
  const at = new Date(0);
  const shown = showBinding(binding, { placeholderOf });
  const question = renderQuestion({
    id: "apr_1",
    binding: shown,
    tools: [],
    intent: "x",
    createdAt: at,
    expiresAt: at,
  });
  // Hashes make texts differ anyway; people compare what they can read.
  return question.replaceAll(/sha256 [0-9a-f]{64}/g, "sha256");
}

/** The content itself, by an encoding that has nothing in common with the one under test. */
function identity(binding: Binding): string {
  const tools = binding.tools.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return JSON.stringify([
    binding.scope.org,
    binding.scope.project,
    binding.principal,
    binding.program,
    binding.nested,
    binding.missing,
    tools.map(({ id, schemaHash, effect }) => [id, schemaHash, effect]),
    binding.dynamicCalls,
    binding.args ?? "none",
    binding.call === undefined ? "none" : [binding.call.runId, binding.call.tool, binding.call.seq ?? "none"],
  ]);
}

function findProblem(one: Binding, two: Binding, isSame: boolean): string | undefined {
  const both = `${identity(one)}\n${identity(two)}`;
  if ((hashBinding(one) === hashBinding(two)) !== isSame) return `equal or different hashes for\n${both}`;
  if (hashBinding(rebuild(one) as Binding) !== hashBinding(one)) return `another hash for ${identity(one)}`;
  return !isSame && render(one) === render(two) ? `one text for\n${both}` : undefined;
}

describe("H2: 10,000 pairs of bindings", () => {
  test("have equal hashes exactly if they are equal, and look different if they differ", () => {
    const random = new Random(20_261_118);
    let different = 0;
    for (let round = 0; round < 10_000; round += 1) {
      const one = randomBinding(random);
      const two = changeOne(random, one, randomBinding(random));
      const isSame = identity(one) === identity(two);
      const problem = findProblem(one, two, isSame);
      expect(problem).toBeUndefined();
      different += isSame ? 0 : 1;
    }
    expect(different).toBeGreaterThan(6_000);
  });

  test("a stored question has the hash of what it asks", () => {
    const random = new Random(5);
    for (let round = 0; round < 500; round += 1) {
      const binding = randomBinding(random);
      const stored = JSON.parse(JSON.stringify(showBinding(binding, { placeholderOf }))) as Binding;
      expect(hashBinding(stored)).toBe(hashBinding(binding));
      expect(hashRule(stored)).toBe(hashRule(binding));
    }
  });
});

test("hashRule covers all arguments and nothing else", () => {
  const random = new Random(9);
  for (let round = 0; round < 1_000; round += 1) {
    const { args: _args, ...one } = randomBinding(random);
    const two = changeOne(random, one, randomBinding(random));
    expect(hashRule({ ...one, args: bindArgs(random.pick(ARGS)) })).toBe(hashRule(one));
    const { args: _others, ...rest } = two;
    expect(hashRule(two) === hashRule(one)).toBe(identity(rest) === identity(one));
  }
});

const KEY = "sk-live-aaaaaaaaaaaaaaaaaaaaaaaa";

function showCode(code: string): string {
  const ranges = [...code.matchAll(/(?<=["`}])[^"`${}]{7,}(?=["`$])/g)].map(
    ({ index, 0: { length } }) => [index, index + length] as const,
  );
  const program = { kind: "code", ...bindText(code), literals: ranges } as const;
  return showBinding({ ...randomBinding(new Random(1)), program }, { placeholderOf: () => "hidden" }).program.text;
}

test("showBinding hides whole literals and no piece of a template, and stores no ranges", () => {
  expect(showCode(`f("${KEY}", \`${KEY}\`)`)).toBe("f(hidden, hidden)");
  const pieces = `f(\`${KEY}\${x}${KEY}\${y}${KEY}\`)`;
  expect(showCode(pieces)).toBe(pieces);
  const program = { kind: "code", ...bindText("1"), literals: [] } as const;
  expect(showBinding({ ...randomBinding(new Random(1)), program }, { placeholderOf }).program).not.toHaveProperty(
    "literals",
  );
});

test("showBinding hides arguments that the schema or their own name calls secret, and all below them", () => {
  const password = { type: "string", format: "password" };
  const schema = {
    properties: {
      pin: { anyOf: [{ type: "null" }, { writeOnly: true }] },
      list: { items: { properties: { word: password } } },
    },
  };
  const given = {
    pin: 12,
    word: "a",
    list: [{ word: "b", name: "c" }],
    credentials: { user: ["d"], on: true },
    e: "b",
  };
  const shown = showBinding(
    { ...randomBinding(new Random(1)), args: bindArgs(given) },
    { placeholderOf: () => '"hidden"', schema },
  ).args?.text;
  expect(JSON.parse(shown?.replaceAll(", a number", "") ?? "")).toEqual({
    pin: "hidden",
    word: "a",
    list: [{ word: "hidden", name: "c" }],
    credentials: { user: ["hidden"], on: true },
    e: "b",
  });
});
