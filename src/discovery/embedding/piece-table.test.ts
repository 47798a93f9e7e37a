import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/support/folder.ts";
import { tokenizerPath } from "./minilm-embedder.ts";
import { PieceTable, readPieceTable } from "./piece-table.ts";

interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

test("every piece of the vocabulary has the number it has in the file", () => {
  const table = readPieceTable(tokenizerPath);
  const { vocab } = (JSON.parse(readFileSync(tokenizerPath, "utf8")) as TokenizerFile).model;
  const wrong = Object.entries(vocab).filter(([piece, id]) => {
    const bytes = Buffer.from(piece);
    const found = table.findLongest(bytes, 0, bytes.length);
    return found?.id !== id || found.end !== bytes.length;
  });
  expect(Object.keys(vocab)).toHaveLength(30_522);
  expect(wrong).toEqual([]);
});

test("the longest piece is found, within the bounds, of those that are long enough", () => {
  const pieces = ["re", "read", "##r", "#", "é"].map((piece) => Buffer.from(piece));
  const table = new PieceTable(pieces, 100);
  const find = (text: string, start = 0, end = Buffer.byteLength(text), moreThan = 0) =>
    table.findLongest(Buffer.from(text), start, end, moreThan);
  expect(find("reader")).toEqual({ id: 1, end: 4 });
  expect(find("reader", 0, 3)).toEqual({ id: 0, end: 2 });
  expect(find("a read", 2)).toEqual({ id: 1, end: 6 });
  expect(find("##r")).toEqual({ id: 2, end: 3 });
  expect(find("##x")).toEqual({ id: 3, end: 1 });
  expect(find("##x", 0, 3, 2)).toBeUndefined();
  expect(find("éa")).toEqual({ id: 4, end: 2 });
  expect(find("écrire", 1)).toBeUndefined();
});

test("a file without a vocabulary is refused, and so is one with too many pieces", async () => {
  await using folder = await makeFolder();
  const path = join(folder.path, "tokenizer.json");
  writeFileSync(path, "{}");
  expect(() => readPieceTable(path)).toThrow(/has no vocabulary/);
  const piece = Buffer.from("a");
  expect(() => new PieceTable(Array<Buffer>(32_769).fill(piece), 32_769)).toThrow(/more than 32768 pieces/);
});
