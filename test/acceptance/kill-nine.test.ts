import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { runKillRounds } from "../torture/kill-nine.ts";

const ROUNDS = 6;
/** Each lane has its own database, to use both cores. */
const LANES = 2;

test(
  `${ROUNDS} kill -9 lose no acknowledged transaction and leave no index corrupt`,
  { timeout: 180_000 },
  async () => {
    const rounds = ROUNDS / LANES;
    const lanes = Array.from({ length: LANES }, () => {
      const seed = randomInt(2 ** 31);
      console.log(`a sample of: npm run torture -- kill9 --rounds ${rounds} --seed ${seed}`);
      return runKillRounds({ rounds, seed, say: (line) => console.log(line) });
    });
    for (const report of await Promise.all(lanes)) {
      expect(report.problems).toEqual([]);
      expect(report).toMatchObject({ rounds, lost: 0, half: 0, wrongCounters: 0, unopenable: 0 });
      expect(report.corrupt).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(0);
      expect(report.inspections).toBeGreaterThan(0);
    }
  },
);
