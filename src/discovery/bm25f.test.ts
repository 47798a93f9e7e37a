import { expect, test } from "vitest";
import { Bm25f, countWords } from "./bm25f.ts";
import type { SearchDocument } from "./search.ts";
import { splitWords } from "./query-words.ts";

function document(name: string, description: string, more: Partial<SearchDocument> = {}): SearchDocument {
  return { id: name, kind: "tool", server: "", name, description, parameters: [], tags: [], ...more };
}

const documents = [
  document("read_file", "Read the contents of a file"),
  document("write_file", "Write text to a file"),
  document("send", "Send a message", { parameters: [{ name: "recipients", description: "People it goes to" }] }),
  document("plan", "Make a plan", { tags: ["calendar"] }),
];

function score(index: Bm25f, query: string): number[] {
  const scores = new Float64Array(documents.length);
  index.createScore()(
    splitWords(query).map((word) => ({ word, weight: 1 })),
    scores,
  );
  return [...scores];
}

function build(slots: readonly number[]): Bm25f {
  const index = new Bm25f();
  for (const slot of slots) index.add(slot, countWords(documents[slot]!));
  return index;
}

test("a word in a name counts more than one in a description, and no shared word scores 0", () => {
  const scores = score(build([0, 1, 2, 3]), "write file");
  expect(scores[1]).toBeGreaterThan(scores[0]!);
  expect(scores.slice(2)).toEqual([0, 0]);
});

test("parameters, their texts and tags are found as well", () => {
  const index = build([0, 1, 2, 3]);
  expect(score(index, "recipient").findIndex((each) => each > 0)).toBe(2);
  expect(score(index, "people").findIndex((each) => each > 0)).toBe(2);
  expect(score(index, "calendars").findIndex((each) => each > 0)).toBe(3);
  expect(index.fieldsOf(3, "calendar")).toEqual(["tags"]);
  expect(index.fieldsOf(0, "read")).toEqual(["name", "description"]);
});

test("a removed document influences nothing", () => {
  const index = build([0, 1, 2, 3]);
  index.remove(1);
  expect(score(index, "read a file or send")).toEqual(score(build([0, 2, 3]), "read a file or send"));
  expect(index.fieldsOf(1, "write")).toEqual([]);
});
