import { expect, test } from "vitest";
import { stem } from "./stem.ts";
import { spellOut, splitWords } from "./query-words.ts";

test.each([
  ["caresses", "caress"],
  ["ponies", "poni"],
  ["feed", "feed"],
  ["agreed", "agre"],
  ["plastered", "plaster"],
  ["motoring", "motor"],
  ["hopping", "hop"],
  ["filing", "file"],
  ["happy", "happi"],
  ["relational", "relat"],
  ["hopefulness", "hope"],
  ["electricity", "electr"],
  ["adjustment", "adjust"],
  ["adoption", "adopt"],
  ["controlling", "control"],
  ["rate", "rate"],
  ["naïve", "naïve"],
])("stem takes the endings off %s", (word, expected) => {
  expect(stem(word)).toBe(expected);
});

test("splitWords splits names, drops stop words and keeps characters of languages without spaces", () => {
  expect(splitWords("Please help me readJSONFiles from the folder")).toEqual(["read", "jsonfil", "folder"]);
  expect(splitWords("create_issue-2")).toEqual(["creat", "issu", "2"]);
  expect(splitWords("读取file")).toEqual(["读", "取", "file"]);
  expect(splitWords("a the ...")).toEqual([]);
});

test("spellOut writes a name as words", () => {
  expect(spellOut("readJSONFile")).toBe("read JSON File");
  expect(spellOut("fs:read_json-file")).toBe("fs read json file");
});
