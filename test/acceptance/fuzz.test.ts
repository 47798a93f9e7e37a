import { expect, test } from "vitest";
import { runFuzz } from "../torture/fuzz.ts";

const SEED = 1;

test("1,000 malformed messages and requests: errors, no crash, no connection left open, and calls work all the while [mcp-12]", async () => {
  console.log(`a sample of: npm run torture -- fuzz --rounds 1 --seed ${SEED}`);
  const report = await runFuzz({ rounds: 1, seed: SEED, say: (line) => console.log(line) });
  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ lines: 480, requests: 520 });
}, 180_000);
