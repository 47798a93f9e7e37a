import { getHeapSpaceStatistics } from "node:v8";
import { expect, test } from "vitest";
import { PassingMap } from "./passing-map.ts";

test("PassingMap finds what was set last and not what was deleted", () => {
  const map = new PassingMap<number | string, string>();
  for (const key of [1, "1", 2]) map.set(key, `first ${key}`);
  map.set(1, "second");
  expect([map.get(1), map.get("1"), map.get(2), map.get(3)]).toEqual(["second", "first 1", "first 2", undefined]);
  expect(map.delete(1)).toBe(true);
  expect(map.delete(1)).toBe(false);
  expect([map.has(1), map.has("1"), map.has(2)]).toEqual([false, true, true]);
  expect(new Map(map.entries())).toEqual(
    new Map<unknown, string>([
      ["1", "first 1"],
      [2, "first 2"],
    ]),
  );
});

test("PassingMap can be emptied while its values are read", () => {
  const map = new PassingMap<number, number>();
  for (let key = 0; key < 5; key += 1) map.set(key, key);
  for (const value of map.values()) map.delete(value);
  expect(map.values()).toEqual([]);
});

test("PassingMap that has become old keeps nothing of what passed through it", () => {
  const map = new PassingMap<number, unknown>();
  makeGarbage(40); // it is old afterwards
  const before = oldSpaceMb();
  for (let key = 0; key < 30_000; key += 1) {
    map.set(key, Array<number>(300).fill(key));
    map.delete(key - 8);
  }
  expect(oldSpaceMb() - before).toBeLessThan(10);
});

function makeGarbage(megabytes: number): void {
  for (let made = 0; made < megabytes * 128; made += 1) Array<number>(1024).fill(made);
}

function oldSpaceMb(): number {
  const found = getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space");
  return (found?.space_used_size ?? 0) / 1e6;
}
