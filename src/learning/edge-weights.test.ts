import { expect, test } from "vitest";
import { EDGE_TYPE_WEIGHTS, edgeConfidence, edgeWeight } from "./edge-weights.ts";

test("edgeWeight multiplies the weight of the type with the confidence", () => {
  expect(EDGE_TYPE_WEIGHTS).toEqual({ dependency: 1, contains: 0.8, provides: 0.7, sequence: 0.5 });
  expect([edgeConfidence("template", 0), edgeConfidence("inferred", 0)]).toEqual([0.3, 0.5]);
  expect([1, 3, 9].map((observed) => edgeConfidence("observed", observed))).toEqual([0.5, 0.75, 0.9]);
  expect(edgeWeight("provides", "observed", 9)).toBeCloseTo(0.63);
});
