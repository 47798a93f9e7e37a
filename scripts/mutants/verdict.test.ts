import { expect, test } from "vitest";
import { findUnsound, judge, type TestOutcome, type TestReport } from "./verdict.ts";

function report(tests: readonly TestOutcome[], brokenFiles: readonly string[] = []): TestReport {
  return { tests, brokenFiles };
}

const passed = (name: string): TestOutcome => ({ name, status: "passed" });
const failed = (name: string): TestOutcome => ({ name, status: "failed" });
const skipped = (name: string): TestOutcome => ({ name, status: "skipped" });

test("judge: a failing test for each id catches a defect, and the first one is named", () => {
  const run = report([passed("[A] one"), failed("[A] two"), failed("[B] three")]);
  expect(judge(["A", "B"], run)).toEqual({ verdict: "caught", detail: "[A] two" });
});

test("judge: a defect survives where all pass, or where no failing test claims one of its ids", () => {
  expect(judge(["A"], report([passed("[A] one"), skipped("[B] two")]))).toEqual({ verdict: "survived", detail: "A" });
  const half = report([failed("[A] one"), passed("[B] two")]);
  expect(judge(["A", "B"], half)).toEqual({ verdict: "survived", detail: "no failing test claims B" });
});

test("judge: a defect without ids is caught by any failing test", () => {
  expect(judge([], report([failed("a unit")]))).toEqual({ verdict: "caught", detail: "a unit" });
  expect(judge([], report([passed("a unit")])).verdict).toBe("survived");
});

test("judge: nothing is shown where no test ran", () => {
  expect(judge(["A"], report([skipped("[B] one")])).verdict).toBe("not shown");
});

test("judge: time that ran out and a file that failed as a whole count as caught, and say so", () => {
  expect(judge(["A"], "timeout").verdict).toBe("caught by timeout");
  expect(judge(["A"], report([skipped("[A] one")], ["test/a.test.ts"]))).toEqual({
    verdict: "caught",
    detail: "test/a.test.ts as a whole",
  });
});

test("findUnsound names what fails without a defect", () => {
  expect(findUnsound(report([passed("[A] one")]))).toBeUndefined();
  expect(findUnsound(report([failed("[A] one")]))).toContain("[A] one");
  expect(findUnsound(report([], ["test/a.test.ts"]))).toContain("test/a.test.ts");
  expect(findUnsound("timeout")).toContain("ran out of time");
});
