import { expect, test } from "vitest";
import type { JsonObject } from "../../base/json.ts";
import { fillArguments, type FilledArguments, type PastRun } from "./fill-arguments.ts";

const text = { type: "string" };
const schema = (properties: JsonObject, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});

const RETURNS: readonly PastRun[] = [
  {
    intent: "Return #W6067464 via card_419 for Ann",
    args: { order_id: "#W6067464", payment: "card_419", mode: "fast" },
  },
  { intent: "Return #W12 via card_7 for Bob", args: { order_id: "#W12", payment: "card_7", mode: "fast" } },
];

function fill(
  intent: string,
  properties: JsonObject,
  runs: readonly PastRun[],
  given: JsonObject = {},
): FilledArguments {
  return fillArguments({ intent, parameters: schema(properties), given, runs });
}

test("takes constants, choices, seen values and spans, each with its source", () => {
  const properties = {
    order_id: text,
    payment: text,
    mode: text,
    reason: { enum: ["no longer needed", "by mistake"] },
  };
  const filled = fill("Return #W99 via card_55, ordered by mistake", properties, RETURNS);
  expect(filled.args).toEqual({ order_id: "#W99", payment: "card_55", mode: "fast", reason: "by mistake" });
  expect(filled.sources).toEqual({ order_id: "span", payment: "span", mode: "constant", reason: "enum" });
  expect(filled).toMatchObject({ missing: [], consumed: 1 });
  const again = fill("Return #W12 to me", { order_id: text }, RETURNS);
  expect(again).toMatchObject({ args: { order_id: "#W12" }, sources: { order_id: "seen" } });
});

test("leaves empty what is not clear, and says what is missing", () => {
  const filled = fill("return it", { order_id: text, payment: text }, RETURNS);
  expect(filled).toMatchObject({ args: {}, missing: ["order_id", "payment"], consumed: 1 });
  const two = fill("from #W12 or from #W6067464", { order_id: text }, RETURNS);
  expect(two.sources["order_id"]).not.toBe("seen");
  expect(fill("wait 5 minutes", { order_id: text }, RETURNS).consumed).toBe(0);
  const once = fill("return it", { mode: text }, RETURNS.slice(1));
  expect(once.missing).toEqual(["mode"]);
});

test("converts numbers, keeps what is given, and uses each part of an intent once", () => {
  const runs = [
    { intent: "list 3 numbers from 10", args: { length: 3, from: 10 } },
    { intent: "list 4 numbers from 20", args: { length: 4, from: 20 } },
  ];
  const number = { type: "integer" };
  const filled = fill("list 7 numbers from 50", { length: number, from: number }, runs);
  expect(filled.args).toEqual({ length: 7, from: 50 });
  const given = fill("list 7 numbers from 50", { length: number, from: number }, runs, { length: 1 });
  expect(given).toMatchObject({ args: { length: 1, from: 50 }, sources: { length: "given", from: "span" } });
  expect(given.consumed).toBe(0.5);
});

test("never offers a secret", () => {
  const hidden = "‹secret, 24 chars, #0a1b›";
  const runs = [1, 2, 3].map(() => ({ intent: "log in", args: { token: hidden } }));
  expect(fill("log in", { token: text }, runs)).toMatchObject({ args: {}, missing: ["token"] });
});
