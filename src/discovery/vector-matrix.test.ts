import { expect, test } from "vitest";
import { Random } from "../../test/support/random.ts";
import { normalise } from "./embedding/encoder/unit-vector.ts";
import { VectorMatrix } from "./vector-matrix.ts";

const random = new Random(7);

function randomVector(dimensions: number): Float32Array {
  return normalise(Float32Array.from({ length: dimensions }, () => random.between(-500, 500)));
}

function product(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

test.each([384, 256, 1000, 3])("VectorMatrix compares vectors of %i dimensions", (dimensions) => {
  const matrix = new VectorMatrix(dimensions);
  const vectors = Array.from({ length: 300 }, () => randomVector(dimensions));
  vectors.forEach((vector, slot) => matrix.set(slot, vector));
  const query = randomVector(dimensions);
  const cosines = new Float64Array(vectors.length);
  matrix.compare(query, cosines);
  const errors = vectors.map((vector, slot) => Math.abs(product(vector, query) - (cosines[slot] ?? 0)));
  expect(Math.max(...errors)).toBeLessThan(0.01);
});

test("VectorMatrix replaces and clears vectors, and leaves unset slots at 0", () => {
  const matrix = new VectorMatrix(3);
  matrix.set(0, Float32Array.of(1, 0, 0));
  matrix.set(2, Float32Array.of(0, 1, 0));
  matrix.set(200, Float32Array.of(0, 0, 1));
  matrix.set(0, Float32Array.of(0, 0, 1));
  matrix.set(200, new Float32Array(0));
  const cosines = new Float64Array(201);
  matrix.compare(Float32Array.of(0, 0, 1), cosines);
  expect(cosines[0]).toBeCloseTo(1, 2);
  expect([cosines[1], cosines[2], cosines[200]]).toEqual([0, 0, 0]);
});
