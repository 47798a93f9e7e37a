import { expect, test } from "vitest";
import { RetryPlan } from "./retry-plan.ts";

/** The waiting times have a quarter of chance in them. */
function expectAbout(actual: number, expected: number): void {
  expect(actual).toBeGreaterThanOrEqual(expected * 0.75);
  expect(actual).toBeLessThanOrEqual(expected * 1.25);
}

test("RetryPlan waits longer after each failed start, up to a limit, and then rests", () => {
  const plan = new RetryPlan();
  for (const expected of [250, 500, 1_000, 2_000, 4_000]) {
    const wait = plan.failed(1_000_000);
    expectAbout(wait, expected);
    expect(plan.remainingMs(1_000_000)).toBeCloseTo(wait);
    expect(plan.exhausted).toBe(false);
  }
  plan.failed();
  expect([plan.exhausted, plan.failures]).toEqual([true, 6]);
  for (let more = 0; more < 20; more += 1) expect(plan.failed()).toBeLessThanOrEqual(30_000 * 1.25);
  expect(plan.remainingMs(Date.now() + 60_000)).toBe(0);
});

test("RetryPlan begins anew after a start that worked", () => {
  const plan = new RetryPlan();
  plan.failed();
  plan.failed();
  plan.succeeded();
  expect([plan.failures, plan.remainingMs()]).toEqual([0, 0]);
  expectAbout(plan.failed(), 250);
});

test("RetryPlan has a server that always ends back at once for callers, and by itself ever later", () => {
  const plan = new RetryPlan();
  for (const expected of [250, 500, 1_000, 2_000, 4_000]) {
    plan.succeeded(1_000);
    expectAbout(plan.crashed(2_000), expected);
    expectAbout(plan.remainingMs(2_000), 250);
    expect(plan.exhausted).toBe(false);
  }
  plan.succeeded(1_000);
  plan.crashed(2_000);
  expect(plan.exhausted).toBe(true);
  plan.succeeded(10_000);
  expectAbout(plan.crashed(20_000), 250);
  expect(plan.exhausted).toBe(false);
});

test("RetryPlan counts starts after the first one as restarts", () => {
  const plan = new RetryPlan();
  plan.failed();
  plan.succeeded();
  expect(plan.restarts).toBe(0);
  plan.crashed();
  plan.succeeded();
  expect(plan.restarts).toBe(1);
});
