import { expect, test } from "vitest";
import { changedFiles, claimPattern, type Mutant, parseMutant, sampleMutants } from "./mutant.ts";

const PATCH = "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1 @@\n const a = 1;\n-const b = 2;\n";

test("parseMutant reads the header and keeps the patch as it is", () => {
  const text = `ids: 13.7-AC2 FR032\nwhy: no alias is written\ntests: test/acceptance/names.test.ts\nwhole: yes\nslow: yes\n${PATCH}`;
  expect(parseMutant("no-alias", text)).toEqual({
    name: "no-alias",
    ids: ["13.7-AC2", "FR032"],
    why: "no alias is written",
    tests: ["test/acceptance/names.test.ts"],
    names: undefined,
    isWhole: true,
    isSlow: true,
    patch: PATCH,
  });
});

test("parseMutant leaves the tests to the ids and a mutant quick unless told otherwise", () => {
  expect(parseMutant("x", `ids: FR032\nwhy: it is so\n${PATCH}`)).toMatchObject({
    tests: [],
    isWhole: false,
    isSlow: false,
  });
});

test("parseMutant reads the pattern of names of tests without ids", () => {
  const { ids, names } = parseMutant(
    "x",
    `why: it is so\ntests: src/a.test.ts\nnames: reads a (file|folder)\n${PATCH}`,
  );
  expect(ids).toEqual([]);
  expect(names).toEqual(/reads a (file|folder)/);
});

test.each([
  ["no patch", "ids: FR032\nwhy: it is so\n", "the file has no patch"],
  ["no reason", `ids: FR032\n${PATCH}`, 'needs a line "why: …"'],
  ["neither ids nor tests", `why: it is so\n${PATCH}`, "names neither ids nor tests"],
  ["an unknown field", `id: FR032\nwhy: it is so\n${PATCH}`, 'the line "id: FR032"'],
])("parseMutant refuses a file with %s and names the mutant", (_, text, message) => {
  expect(() => parseMutant("broken-one", text)).toThrow("broken-one");
  expect(() => parseMutant("broken-one", text)).toThrow(message);
});

function mutant(name: string, isSlow = false): Mutant {
  return { name, ids: ["FR001"], why: "it is so", tests: [], names: undefined, isWhole: false, isSlow, patch: PATCH };
}

const rank = (name: string): string => ({ a: "3", b: "1", c: "2", d: "0" })[name] ?? "9";

test("sampleMutants takes the lowest ranks, whatever the order, and no slow one", () => {
  const all = [mutant("a"), mutant("b"), mutant("c"), mutant("d", true)];
  expect(sampleMutants(all, 2, rank).map(({ name }) => name)).toEqual(["b", "c"]);
  expect(sampleMutants(all.toReversed(), 2, rank).map(({ name }) => name)).toEqual(["b", "c"]);
  expect(sampleMutants(all, 9, rank)).toHaveLength(3);
});

test("changedFiles names each file once and no file that is not there", () => {
  expect(changedFiles(`${PATCH}--- a/src/b.ts\n+++ /dev/null\n`)).toEqual(["src/a.ts", "src/b.ts"]);
});

test("claimPattern matches a whole id in brackets and nothing like it", () => {
  const pattern = claimPattern(["13.1-AC1", "FR001"]);
  expect("lookup [13.1-AC1] works").toMatch(pattern);
  expect("names [FR001]").toMatch(pattern);
  expect("lookup [13.1-AC10] [13x1-AC1] FR001").not.toMatch(pattern);
});
