import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { runKillRounds } from "../torture/kill-nine.ts";

const ROUNDS = 50;
/** Each lane has its own database, to use both cores. */
const LANES = 2;

test(
  `${ROUNDS} kill -9 lose no acknowledged transaction and leave no index corrupt`,
  { timeout: 300_000 },
  async () => {
    const lanes = Array.from({ length: LANES }, () =>
      runKillRounds({ rounds: ROUNDS / LANES, seed: randomInt(2 ** 31), say: (line) => console.log(line) }),
    );
    for (const report of await Promise.all(lanes)) {
      expect(report.problems).toEqual([]);
      expect(report).toMatchObject({ rounds: ROUNDS / LANES, lost: 0, half: 0, wrongCounters: 0, unopenable: 0 });
      expect(report.corrupt).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(0);
      expect(report.inspections).toBeGreaterThan(0);
    }
  },
);
