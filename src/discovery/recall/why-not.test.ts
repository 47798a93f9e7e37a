import { expect, test } from "vitest";
import type { JsonObject, JsonSchema } from "../../base/json.ts";
import { type ArgumentSource } from "./fill-arguments.ts";
import type { MatchedCapability } from "./match-capabilities.ts";
import { trustedArguments, whyNot } from "./why-not.ts";

const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

function match(
  confidence: number,
  parameters: JsonSchema,
  filled: { readonly args?: JsonObject; readonly sources?: Readonly<Record<string, ArgumentSource>> } = {},
): MatchedCapability {
  const known = {
    id: "1",
    name: "fs:read",
    author: undefined,
    description: "",
    parameters,
    toolsUsed: [],
    usageCount: 3,
    successCount: 3,
    observed: { uses: 3, successes: 3 },
    outputSchema: undefined,
    structure: { nodes: [], edges: [] },
    dominantPath: undefined,
  };
  const { args = {}, sources = {} } = filled;
  return {
    known,
    group: "g",
    variants: 1,
    features: [],
    confidence,
    filled: { args, sources, missing: [], consumed: 1 },
  };
}

const conditions = (given: JsonObject, more: { readonly runAbove?: number; readonly isProven?: boolean } = {}) => ({
  intent: "read a file",
  given,
  runAbove: more.runAbove ?? 0.98,
  calibration: { weights: [], isProven: more.isProven ?? true },
});

const given = { args: { path: "a" }, sources: { path: "given" } } as const;
const guessed = { args: { path: "a" }, sources: { path: "span" } } as const;
const usual = { args: { path: "a" }, sources: { path: "constant" } } as const;

test("a sure capability runs with everything given, once that is proven", () => {
  expect(whyNot(match(0.99, path, given), conditions({ path: "a" }))).toBe("");
  expect(whyNot(match(0.97, path, given), conditions({ path: "a" }))).toContain("No capability is surely meant");
  expect(whyNot(match(0.99, path, given), conditions({ path: "a" }, { isProven: false }))).toContain("too few");
  expect(whyNot(undefined, conditions({}))).toContain("No capability");
});

test("a person may take the risk of a lower confidence without proof, but not of guessed arguments", () => {
  const risk = { runAbove: 0.8, isProven: false };
  expect(whyNot(match(0.85, path, given), conditions({ path: "a" }, risk))).toBe("");
  expect(whyNot(match(0.85, path, guessed), conditions({}, risk))).toContain("needs path");
  expect(whyNot(match(0.99, path, guessed), conditions({}))).toBe("");
  expect(trustedArguments(match(0.99, path, guessed), { weights: [], isProven: true })).toEqual({ path: "a" });
  expect(whyNot(match(0.99, path, usual), conditions({}))).toContain("needs path");
});

test("a task whose values the capability does not take is another task", () => {
  const extra = conditions({ path: "a", limit: 3 });
  expect(whyNot(match(0.99, path, given), extra)).toContain("does not take limit");
  const literal = { ...conditions({}), intent: "read notes/today.md" };
  expect(whyNot(match(0.99, {}), literal)).toContain("has no parameters");
  expect(whyNot(match(0.99, {}), conditions({}))).toBe("");
});
