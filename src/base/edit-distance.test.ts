import { expect, test } from "vitest";
import { findClosest } from "./closest.ts";
import { editDistance } from "./edit-distance.ts";

test.each([
  ["", "", 0],
  ["read", "read", 0],
  ["read", "raed", 1],
  ["read", "reads", 1],
  ["read", "bread", 1],
  ["read", "road", 1],
  ["kitten", "sitting", 3],
  ["abc", "", 3],
])("editDistance from %j to %j is %i", (from, to, expected) => {
  expect(editDistance(from, to, 5)).toBe(expected);
  expect(editDistance(to, from, 5)).toBe(expected);
});

test("editDistance stops counting beyond its limit, and does not begin with words of very different length", () => {
  expect(editDistance("abcdef", "uvwxyz", 2)).toBeGreaterThan(2);
  // Comparing these character by character would take minutes, and the test its time limit.
  expect(editDistance("a".repeat(2_000_000), "b".repeat(1_000_000), 2)).toBeGreaterThan(2);
});

test("findClosest returns the nearest word regardless of case, and none that is too far", () => {
  expect(findClosest("Raed_file", ["write_file", "read_file", "list"])).toBe("read_file");
  expect(findClosest("xyz", ["write_file", "list"])).toBeUndefined();
});
