import { expect, test } from "vitest";
import { learnedVector, typicalIntent } from "./learned-vector.ts";

const own = Float32Array.of(1, 0, 0);
const request = Float32Array.of(0, 0, 1);

test("a vector moves towards the intents of its uses", () => {
  expect(learnedVector(own, [], undefined)).toBe(own);
  const moved = learnedVector(own, [Float32Array.of(0, 1, 0)], undefined);
  expect(moved[1]).toBeGreaterThan(0.5);
  expect(moved[0]).toBeGreaterThan(moved[1]!);
});

test("but not towards requests in general", () => {
  const intent = Float32Array.of(0, 0.6, 0.8);
  expect(learnedVector(own, [intent], undefined)[2]).toBeGreaterThan(0.3);
  const kept = learnedVector(own, [intent], request);
  expect(kept[2]).toBeCloseTo(0, 5);
  expect(kept[1]).toBeGreaterThan(0.3);
});

test("typicalIntent needs enough intents", () => {
  expect(typicalIntent([request])).toBeUndefined();
  const many = Array.from({ length: 30 }, (_, at) => Float32Array.of(at % 2 === 0 ? 0.6 : -0.6, 0, 0.8));
  expect(typicalIntent(many)?.[2]).toBeCloseTo(1, 5);
});
