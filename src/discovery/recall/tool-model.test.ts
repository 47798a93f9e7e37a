import { expect, test } from "vitest";
import { language } from "../../../test/support/discovery-scene.ts";
import { labelCalls } from "./call-labels.ts";
import { placesOf, ToolModel } from "./tool-model.ts";

const EXAMPLES: readonly (readonly [intent: string, labels: readonly string[]])[] = [
  ["return the kettle of order id", ["shop:return"]],
  ["send back what I ordered last week", ["shop:return"]],
  ["return two things of an order", ["shop:return"]],
  ["change the address of my account", ["shop:address"]],
  ["I have moved, update my address", ["shop:address"]],
  ["cancel the order id", ["shop:cancel"]],
  ["cancel what I ordered today", ["shop:cancel"]],
];

const features = (text: string) => ({ words: placesOf(text), vector: language.lite.embed(text) });

function train(count = EXAMPLES.length): ToolModel {
  const model = new ToolModel(language.lite.dimensions);
  const examples = EXAMPLES.slice(0, count).map(([text, labels]) => ({
    features: features(text),
    labels: new Set(labels),
  }));
  for (const [at, example] of examples.entries()) {
    model.learn(example, { count: at, at: (index) => examples[index]! });
  }
  return model;
}

test("predicts the calls of an intent in other words, and the others less", () => {
  const odds = train().judge(features("please return the order with the lamp"));
  expect([...odds].toSorted(([, a], [, b]) => b - a)[0]?.[0]).toBe("shop:return");
  expect(odds.get("shop:return")).toBeGreaterThan(0);
  expect(odds.get("shop:address")).toBeLessThan(0);
});

test("is the same whenever it learns the same examples in the same order", () => {
  const asked = features("cancel it");
  expect([...train().judge(asked)]).toEqual([...train().judge(asked)]);
  expect([...train(6).judge(asked)]).not.toEqual([...train().judge(asked)]);
});

test("knows at most 600 labels, and goes on learning those it has", () => {
  const model = train();
  const many = new Set(Array.from({ length: 1000 }, (_, at) => `shop:tool_${at}`));
  model.learn({ features: features("do everything"), labels: many }, { count: 0, at: () => expect.unreachable() });
  const odds = model.judge(features("do everything"));
  expect(odds.size).toBe(600);
  expect(odds.get("shop:tool_0")).toBeGreaterThan(odds.get("shop:return")!);
});

const call = (tool: string, ...argumentNames: string[]) => ({ tool, argumentNames });

test("labels of calls: tools, with the names of their arguments, and how often", () => {
  const labels = labelCalls([call("a", "y", "x"), call("a"), call("b"), call("c"), call("c"), call("c")]);
  expect([...labels]).toEqual(["a", "a(x,y)", "a()", "a twice", "b", "b()", "c", "c()", "c several"]);
});
