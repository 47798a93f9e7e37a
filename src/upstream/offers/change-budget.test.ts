import { expect, test } from "vitest";
import { ChangeBudget } from "./change-budget.ts";

test("ChangeBudget lets 60 small changes pass, then one in half a minute, and recovers", () => {
  const budget = new ChangeBudget(0);
  for (let change = 0; change < 60; change += 1) {
    expect(budget.waitMs(0)).toBe(0);
    budget.spend(0, 0);
  }
  expect(budget.waitMs(0)).toBe(30_000);
  expect(budget.waitMs(29_000)).toBe(1_000);
  expect(budget.waitMs(30_000)).toBe(0);
  budget.spend(0, 30_000);
  expect(budget.waitMs(30_000)).toBe(30_000);
  expect(budget.waitMs(3_000_000)).toBe(0);
});

test("ChangeBudget makes large offers wait longer, and none for ever", () => {
  const budget = new ChangeBudget(0);
  budget.spend(2 * 1024 * 1024, 0);
  expect(budget.waitMs(0)).toBe(0);
  budget.spend(2 * 1024 * 1024, 0);
  expect(budget.waitMs(0)).toBe(7 * 30_000);
  for (let change = 0; change < 100; change += 1) budget.spend(32 * 1024 * 1024, 0);
  expect(budget.waitMs(0)).toBe(3_600_000);
});
