import { expect, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

test("BoundedMap drops the entry that was set longest ago", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2);
  expect([...map.set("a", 3).set("c", 4)]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
  expect(map.get("b")).toBeUndefined();
});

test("BoundedMap drops undefined as a key like any other", () => {
  const map = new BoundedMap<string | undefined, number>(1).set(undefined, 1).set("a", 2);
  expect([...map.keys()]).toEqual(["a"]);
});
