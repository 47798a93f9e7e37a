import { expect, test } from "vitest";
import { Random } from "../../test/support/random.ts";
import { ValueFinder } from "./value-finder.ts";

const hide = (found: string): string => `<${found.length}>`;

test("finds every value, at every place, the longest first", () => {
  const finder = new ValueFinder(["hunter22", "hunter22-long", "0123456789"]);
  expect(finder.replace("hunter22", hide)).toBe("<8>");
  expect(finder.replace("ahunter22-longb hunter22-lon 0123456789hunter22", hide)).toBe("a<13>b <8>-lon <10><8>");
  expect(finder.replace("hunter2 012345678", hide)).toBe("hunter2 012345678");
});

test("finds the beginning of a long value, which a cut may have left", () => {
  const key = Array.from({ length: 60 }, (_, place) => String.fromCharCode(97 + (place % 26))).join("");
  const finder = new ValueFinder([key]);
  expect(finder.replace(`x ${key} y ${key.slice(0, 40)}`, hide)).toBe("x <60> y <40>");
  expect(finder.replace(key.slice(0, 31), hide)).toBe(key.slice(0, 31));
});

test("agrees with searching for one value after the other, on random texts", () => {
  const random = new Random(7);
  const word = (length: number): string => Array.from({ length }, () => random.pick(["a", "b", "c"])).join("");
  for (let round = 0; round < 200; round += 1) {
    const values = Array.from({ length: 5 }, () => word(8));
    const text = word(400);
    const finder = new ValueFinder(values);
    expect(finder.has(text)).toBe(values.some((value) => text.includes(value)));
    const left = finder.replace(text, () => "|");
    for (const value of values) expect(left).not.toContain(value);
  }
});
