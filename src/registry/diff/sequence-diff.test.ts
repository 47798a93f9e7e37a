import { expect, test } from "vitest";
import { Random } from "../../../test/support/random.ts";
import { diffSequences } from "./sequence-diff.ts";

test("diffSequences leads from one list to the other with the fewest steps", () => {
  const random = new Random(7);
  for (let round = 0; round < 300; round += 1) {
    const list = (): string[] => Array.from({ length: random.between(0, 12) }, () => random.pick(["a", "b", "c"]));
    const [before, after] = [list(), list()];
    const steps = diffSequences(before, after);
    expect(steps.flatMap((step) => (step.kind === "removed" ? [] : [step.after]))).toEqual([...after.keys()]);
    const kept = steps.filter((step) => step.kind === "kept");
    expect(kept.map((step) => before[step.before])).toEqual(kept.map((step) => after[step.after]));
    expect(steps.flatMap((step) => (step.kind === "added" ? [] : [step.before]))).toEqual([...before.keys()]);
    expect(kept).toHaveLength(longestCommon(before, after));
  }
});

test("diffSequences replaces everything beyond the maximum of differences", () => {
  const before = Array.from({ length: 2_000 }, (_, index) => `a${index}`);
  const after = Array.from({ length: 2_000 }, (_, index) => `b${index}`);
  const kinds = diffSequences(["x", ...before], ["x", ...after]).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "kept")).toHaveLength(1);
  expect(kinds).toHaveLength(4_001);
});

test("diffSequences takes bounded time for long lists that have everything, or hardly anything, in common", () => {
  const random = new Random(11);
  const noise = (): string[] => Array.from({ length: 50_000 }, () => random.pick(["a", "b", "c"]));
  expect(diffSequences(noise(), noise()).length).toBeGreaterThanOrEqual(50_000);
  expect(diffSequences(Array<string>(50_000).fill("a"), Array<string>(49_500).fill("a"))).toHaveLength(50_000);
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const lengths = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const value = a[i - 1] === b[j - 1] ? at(i - 1, j - 1) + 1 : Math.max(at(i - 1, j), at(i, j - 1));
      lengths[i]?.splice(j, 1, value);
    }
  }
  return at(a.length, b.length);
}
