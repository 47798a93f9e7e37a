import { expect, test } from "vitest";
import { createLexicalRanker } from "./lexical-ranker.ts";
import type { SearchDocument } from "./ranker.ts";

function document(id: string, description = "", args: readonly string[] = []): SearchDocument {
  return { id, name: id, description, arguments: args };
}

const files = [
  document("fs:read_file", "Read the contents of a file", ["path"]),
  document("fs:write_file", "Write text to a file", ["path", "content"]),
  document("fs:listDirectory", "List what a folder has", ["path"]),
  document("mail:send", "Send a message to people", ["recipients", "subject"]),
];

function ids(query: string): string[] {
  return createLexicalRanker(files)
    .rank(query)
    .map(({ id }) => id);
}

test("createLexicalRanker puts what has most of the words, the rare ones first, at the top", () => {
  expect(ids("read the files please")).toEqual(["fs:read_file", "fs:write_file"]);
  expect(ids("list a directory")).toEqual(["fs:listDirectory"]);
  expect(ids("sending to RECIPIENTS")).toEqual(["mail:send"]);
});

test("createLexicalRanker leaves out what has no word in common, and finds nothing for nothing", () => {
  expect(ids("weather in Paris")).toEqual([]);
  expect(ids("the to a")).toEqual([]);
  expect(createLexicalRanker([]).rank("read")).toEqual([]);
});

test("createLexicalRanker scores between 0 and 1 and says which words matched where", () => {
  const [first, second] = createLexicalRanker(files).rank("write content path");
  expect(first).toMatchObject({
    id: "fs:write_file",
    why: { name: ["write"], description: ["write"], arguments: ["content", "path"] },
  });
  expect(first?.score).toBeLessThanOrEqual(1);
  expect(first?.score).toBeGreaterThan(second?.score ?? 0);
  expect(second?.score).toBeGreaterThan(0);
});

test("createLexicalRanker gives equals in the order of their ids, whatever order they came in", () => {
  const same = ["c", "a", "b"].map((id) => ({ ...document(id, "same words"), name: "x" }));
  for (const documents of [same, same.toReversed()]) {
    expect(
      createLexicalRanker(documents)
        .rank("words")
        .map(({ id }) => id),
    ).toEqual(["a", "b", "c"]);
  }
});
