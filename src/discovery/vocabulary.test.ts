import { expect, test } from "vitest";
import { Vocabulary } from "./vocabulary.ts";

const vocabulary = new Vocabulary();
vocabulary.add(["write", "read", "directory", "forecast", "parse"]);

const notEnglish = (): boolean => false;

test.each([
  ["wirte_file", "write_file"],
  ["raed", "read"],
  ["dirctroy", "dirctroy"],
  ["direcotry", "directory"],
  ["Forcast!", "forecast!"],
  ["Paris", "Paris"],
  ["reed", "reed"],
])("%s is read as %s", (text, expected) => {
  expect(vocabulary.correct(text, (word) => word === "paris")).toBe(expected);
});

test("English words are left alone, and removed words are not suggested", () => {
  expect(vocabulary.correct("parce", (word) => word === "parce")).toBe("parce");
  expect(vocabulary.correct("parce", notEnglish)).toBe("parse");
  vocabulary.remove(["parse"]);
  expect(vocabulary.correct("parce", notEnglish)).toBe("parce");
});
