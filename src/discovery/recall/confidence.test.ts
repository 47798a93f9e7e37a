import { describe, expect, test } from "vitest";
import {
  type ConfidenceSignals,
  type Decision,
  fitWeights,
  isProven,
  leadOver,
  probability,
  toFeatures,
} from "./confidence.ts";

const STRONG: ConfidenceSignals = { similarity: 1, lead: 1, likelihood: -1, consumed: 1, support: 3 };
const WEAK: ConfidenceSignals = { similarity: 0.5, lead: 0.1, likelihood: -9, consumed: 0, support: 1 };

const confidence = (signals: ConfidenceSignals, decisions: readonly Decision[] = []): number =>
  probability(fitWeights(decisions), toFeatures(signals));

function decide(signals: ConfidenceSignals, right: boolean, count: number): Decision[] {
  return Array.from({ length: count }, () => ({ features: toFeatures(signals), confidence: 0.99, right }));
}

describe("confidence", () => {
  test("rises with every kind of evidence, before and after a fit", () => {
    for (const decisions of [[], [...decide(STRONG, false, 40), ...decide(WEAK, true, 40)]]) {
      for (const [name, value] of Object.entries(STRONG)) {
        const more = confidence({ ...WEAK, [name]: value }, decisions);
        expect(more).toBeGreaterThanOrEqual(confidence(WEAK, decisions));
      }
    }
    expect(confidence(STRONG)).toBeGreaterThan(0.9);
    expect(confidence(WEAK)).toBeLessThan(0.2);
  });

  test("never falls because more runs agree", () => {
    let last = 0;
    for (let support = 1; support < 50; support += 1) {
      const now = confidence({ ...STRONG, support });
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
  });

  test("is refitted after every twenty decisions, and keeps to the shipped fit while there are few", () => {
    const shipped = confidence(STRONG);
    expect(confidence(STRONG, decide(STRONG, false, 19))).toBe(shipped);
    const after = [20, 100, 1000].map((count) => confidence(STRONG, decide(STRONG, false, count)));
    expect(after[0]).toBeLessThan(shipped);
    expect(after[0]).toBeGreaterThan(0.1);
    expect(after[1]).toBeLessThan(after[0]!);
    expect(after[2]).toBeLessThan(0.05);
    expect(confidence(STRONG, decide(STRONG, true, 200))).toBeGreaterThan(0.98);
  });

  test("a lone capability leads over what is unrelated", () => {
    expect(leadOver(1.9, undefined)).toBeCloseTo(1.3);
    expect(leadOver(1.9, 1.8)).toBeCloseTo(0.1);
    expect(leadOver(1.9, -3)).toBe(leadOver(1.9, undefined));
  });
});

test("sure is proven by 149 decisions without an error, and by more with one", () => {
  expect(isProven(decide(STRONG, true, 148))).toBe(false);
  expect(isProven(decide(STRONG, true, 149))).toBe(true);
  expect(isProven([...decide(STRONG, true, 200), ...decide(STRONG, false, 1)])).toBe(false);
  expect(isProven([...decide(STRONG, true, 240), ...decide(STRONG, false, 1)])).toBe(true);
  const unsure = decide(STRONG, true, 500).map((each) => ({ ...each, confidence: 0.97 }));
  expect(isProven(unsure)).toBe(false);
});
