import { expect, test } from "vitest";
import { summarise } from "./requirement-coverage.ts";

const list = `## First\n\n| id | what |\n|---|---|\n| FR001 | a |\n| 13.1-AC1 | b |\n\n## Decisions\n\n| key | x |\n|---|---|\n| K1 | c |\n`;

test("summarise counts an id as covered when a passing test claims it", () => {
  const summary = summarise(list, [{ test: "it does a [FR001]", status: "passed" }]);
  expect(summary).toMatchObject({
    total: 2,
    covered: 1,
    sections: [{ title: "First", covered: ["FR001"], missing: ["13.1-AC1"] }],
  });
});

test("summarise does not count an id that a failing test claims as well", () => {
  const evidence = [
    { test: "one way [FR001]", status: "passed" },
    { test: "another way [FR001]", status: "failed" },
  ];
  expect(summarise(list, evidence).covered).toBe(0);
});

test("summarise names ids that are not in the list", () => {
  expect(summarise(list, [{ test: "typo [FR999]", status: "passed" }]).unknown).toEqual(["FR999"]);
});

test("summarise counts withdrawn ids apart, and names those that a test claims all the same", () => {
  const withdrawn = `${list}\n## Withdrawn\n\n| id | why |\n|---|---|\n| 13.1-AC1 | d |\n`;
  const evidence = [{ test: "it does a [FR001]", status: "passed" }];
  expect(summarise(withdrawn, evidence)).toMatchObject({
    total: 1,
    covered: 1,
    withdrawn: ["13.1-AC1"],
    sections: [{ title: "First", covered: ["FR001"], missing: [] }],
    unknown: [],
    contradictory: [],
  });
  const claimed = summarise(withdrawn, [{ test: "it does b [13.1-AC1]", status: "passed" }]);
  expect([claimed.unknown, claimed.contradictory, claimed.covered]).toEqual([[], ["13.1-AC1"], 0]);
});
