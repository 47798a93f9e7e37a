import { expect, test } from "vitest";
import type { LiftedParameter } from "../analysis/behaviour/behaviour-facts.ts";
import type { JsonValue } from "../base/json.ts";
import { type DefaultContext, isDefault } from "./default-values.ts";

function parameter(value: JsonValue, more: Partial<LiftedParameter> = {}): LiftedParameter {
  return { name: "p", schema: {}, value, ranges: [], uses: [{ target: "s:get", path: ["p"] }], ...more };
}

const reading: DefaultContext = {
  intent: "list the paper in stock",
  isNamed: false,
  isRead: (tool) => tool === "s:get",
  onlyReads: true,
  isSecret: (value) => value === "secret",
};
const write = { uses: [{ target: "s:set", path: ["p"] }] };

test.each<[string, LiftedParameter, Partial<DefaultContext>, boolean]>([
  ["a word of a program that only reads", parameter("asc"), {}, true],
  ["a word of the intent", parameter("paper"), {}, false],
  ["an id", parameter("O-17"), {}, false],
  ["a large number", parameter(4711), {}, false],
  ["the name of a person", parameter("Ada Lovelace"), {}, false],
  ["a secret, also under a name", parameter("secret"), { isNamed: true }, false],
  ["an id under a name", parameter("O-17"), { isNamed: true }, true],
  ["a value of a change under a name", parameter("O-17", write), { isNamed: true }, false],
  ["a boolean of a change", parameter(true, write), { onlyReads: false }, true],
  [
    "a choice of a change",
    parameter("low", { ...write, schema: { enum: ["low", "high"] } }),
    { onlyReads: false },
    true,
  ],
  ["what a program reads that changes something", parameter("asc"), { onlyReads: false }, false],
])("%s", (_title, lifted, more, expected) => {
  expect(isDefault(lifted, { ...reading, ...more })).toBe(expected);
});
