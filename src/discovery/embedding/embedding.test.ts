import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EMBEDDING_DIMENSIONS, startEmbeddingServer } from "../../../test/support/embedding-server.ts";
import { makeFolder } from "../../../test/support/folder.ts";
import { createHttpEmbedder } from "./http-embedder.ts";
import { mergeAdapter } from "./merge-adapter.ts";
import { createMinilmEmbedder, tokenizerPath } from "./minilm-embedder.ts";
import { formatSafetensors, parseSafetensors, readFloats, type Tensor, toHalf } from "./safetensors.ts";
import { readStaticEmbedder } from "./static-embedder.ts";
import { readWordpiece } from "./wordpiece.ts";

const wordpiece = readWordpiece(tokenizerPath);

function product(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}

test("word pieces are those of the vocabulary: lower case, without accents, longest first", () => {
  const vocabulary = (word: string): number[] => wordpiece.split(word);
  expect(vocabulary("Réad")).toEqual(vocabulary("read"));
  expect(vocabulary("read-file")).toEqual([...vocabulary("read"), ...vocabulary("-"), ...vocabulary("file")]);
  expect(vocabulary("embeddings")).toHaveLength(4);
  expect(vocabulary("x".repeat(200))).toEqual(vocabulary("\u{1F600}"));
  expect(wordpiece.isWord("weather")).toBe(true);
  expect(wordpiece.isWord("wether")).toBe(false);
});

test("a text is cut at a word, at most so many pieces long", () => {
  const text = "Reads the contents of a file, unbelievably fast";
  expect(wordpiece.cut(text, 100)).toBe(text);
  expect(wordpiece.cut(text, 5)).toBe("Reads the contents of a");
  expect(wordpiece.split(wordpiece.cut(text.repeat(50), 126)).length).toBeLessThanOrEqual(126);
});

test("the table of word vectors puts what means the same together", () => {
  const table = readStaticEmbedder(wordpiece);
  const [file, disk, weather] = ["read a file", "load a document from disk", "weather forecast"].map((text) =>
    table.embed(text),
  );
  expect(product(file!, file!)).toBeCloseTo(1, 5);
  expect(product(file!, disk!)).toBeGreaterThan(product(file!, weather!) + 0.2);
  expect(table.embed("")).toEqual(new Float32Array(256));
});

function tensor(values: readonly number[], shape: readonly number[]): Tensor {
  return toHalf(Float32Array.from(values), shape);
}

test("an adapter is merged into the weights once, as W + scale · B·A", async () => {
  await using folder = await makeFolder();
  const write = (name: string, tensors: Map<string, Tensor>, metadata = {}): string => {
    const path = join(folder.path, name);
    writeFileSync(path, Buffer.concat(formatSafetensors({ metadata, tensors })));
    return path;
  };
  const weight = tensor([1, 2, 3, 4, 5, 6], [2, 3]);
  const base = write(
    "base",
    new Map([
      ["encoder.x.weight", weight],
      ["other", tensor([7], [1])],
    ]),
  );
  const layers = new Map([
    ["encoder.x.A", tensor([1, 0, -1], [1, 3])],
    ["encoder.x.B", tensor([1, 2], [2, 1])],
  ]);
  const adapter = write("adapter", layers, { scale: "2.0" });
  const path = await mergeAdapter({ base, adapter, folder: join(folder.path, "models") });
  const { tensors } = parseSafetensors(new Uint8Array(await readFile(path)));
  expect([...readFloats(tensors.get("encoder.x.weight")!)]).toEqual([3, 2, 1, 8, 5, 2]);
  expect([...readFloats(tensors.get("other")!)]).toEqual([7]);
  expect(await mergeAdapter({ base, adapter, folder: join(folder.path, "models") })).toBe(path);
  const wrong = write("wrong", new Map([["encoder.y.A", tensor([1], [1, 1])]]), { scale: "1" });
  await expect(mergeAdapter({ base, adapter: wrong, folder: folder.path })).rejects.toThrow(/does not fit/);
});

test(
  "the model that ships with the package embeds in its thread, requests first, and can be stopped",
  { timeout: 60_000 },
  async () => {
    await using folder = await makeFolder();
    const model = createMinilmEmbedder({ folder: folder.path });
    expect(model.ready).toBe(false);
    const documents = model.embed(["weather forecast", "a third text"], "background");
    const [file, disk] = await model.embed(["read a file", "load a document from disk"]);
    const [weather] = await documents;
    expect(model.ready).toBe(true);
    expect(model.dimensions).toBe(file?.length);
    expect(product(file!, disk!)).toBeGreaterThan(product(file!, weather!) + 0.2);
    await model[Symbol.asyncDispose]();
    await expect(model.embed(["too late"])).rejects.toThrow(/stopping/);
  },
);

test("a model elsewhere is asked in portions, and what it answers is checked", async () => {
  await using server = await startEmbeddingServer();
  const common = { url: `${server.url}/`, model: "words", apiKey: () => "k" };
  const embedder = createHttpEmbedder({ ...common, dimensions: EMBEDDING_DIMENSIONS });
  const texts = Array.from({ length: 50 }, (_, at) => `text ${at}`);
  const vectors = await embedder.embed(texts);
  expect(vectors).toHaveLength(50);
  expect(product(vectors[0]!, vectors[0]!)).toBeCloseTo(1, 4);
  expect(server.texts).toEqual(texts);
  const other = createHttpEmbedder({ ...common, dimensions: 3 });
  await expect(other.embed(["x"])).rejects.toThrow(/vector of 3 numbers .* gave one of 64/);
  expect(other.id).not.toBe(embedder.id);
  server.fail();
  expect(embedder.ready).toBe(true);
  await expect(embedder.embed(["x"])).rejects.toThrow(/answered 500/);
  expect(embedder.ready).toBe(false);
});
