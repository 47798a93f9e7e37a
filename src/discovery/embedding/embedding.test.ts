import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EMBEDDING_DIMENSIONS, startEmbeddingServer } from "../../../test/support/embedding-server.ts";
import { makeFolder } from "../../../test/support/folder.ts";
import { addAdapter } from "./adapter.ts";
import { createHttpEmbedder } from "./http-embedder.ts";
import { createMinilmEmbedder, tokenizerPath } from "./minilm-embedder.ts";
import { SafetensorsFile } from "./encoder/safetensors.ts";
import { readStaticEmbedder } from "./static-embedder.ts";
import { createTransformersEmbedder } from "./transformers-embedder.ts";
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

test("the table of word vectors puts synonyms together", () => {
  const table = readStaticEmbedder(wordpiece);
  const [file, disk, weather] = ["read a file", "load a document from disk", "weather forecast"].map((text) =>
    table.embed(text),
  );
  expect(product(file!, file!)).toBeCloseTo(1, 5);
  expect(product(file!, disk!)).toBeGreaterThan(product(file!, weather!) + 0.2);
  expect(table.embed("")).toEqual(new Float32Array(256));
});

/** Writes a safetensors file of half-precision arrays. */
function formatSafetensors(
  arrays: Readonly<Record<string, { readonly shape: readonly number[]; readonly values: readonly number[] }>>,
  metadata: Readonly<Record<string, string>> = {},
): Buffer {
  const header: Record<string, unknown> = { __metadata__: metadata };
  const parts: Buffer[] = [];
  let end = 0;
  for (const [name, { shape, values }] of Object.entries(arrays)) {
    const part = Buffer.from(Float16Array.from(values).buffer);
    header[name] = { dtype: "F16", shape, data_offsets: [end, (end += part.length)] };
    parts.push(part);
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...parts]);
}

test("an adapter is added to the weights as scale · B·A, and has to fit them", async () => {
  await using folder = await makeFolder();
  const open = (name: string, content: Buffer): SafetensorsFile => {
    writeFileSync(join(folder.path, name), content);
    return new SafetensorsFile(join(folder.path, name));
  };
  const weight = { shape: [2, 3], values: [1, 2, 3, 4, 5, 6] };
  const other = { shape: [1], values: [7] };
  using base = open("base", formatSafetensors({ "encoder.x.weight": weight, other }));
  const [a, b] = [
    { shape: [1, 3], values: [1, 0, -1] },
    { shape: [2, 1], values: [1, 2] },
  ];
  using adapter = open("adapter", formatSafetensors({ "encoder.x.A": a, "encoder.x.B": b }, { scale: "2.0" }));
  const tensors = addAdapter(base, adapter);
  const readRow = tensors.openRows("encoder.x.weight");
  expect([...readRow(1)]).toEqual([8, 5, 2]);
  expect([...readRow(0)]).toEqual([3, 2, 1]);
  expect(() => tensors.readFloats("encoder.x.weight")).toThrow(/by rows only/);
  expect([...tensors.readFloats("other")]).toEqual([7]);
  expect(() => tensors.readFloats("missing")).toThrow(/base has no missing/);
  using wrong = open("wrong", formatSafetensors({ "encoder.y.A": a }, { scale: "1" }));
  expect(() => addAdapter(base, wrong)).toThrow(/does not fit the model: encoder.y/);
  using short = open("short", formatSafetensors({ other }).subarray(0, -1));
  expect(() => short.readFloats("other")).toThrow(/ends after \d+ bytes/);
});

test(
  "the model that ships with the package embeds in its thread, requests first, and can be stopped",
  { timeout: 60_000 },
  async () => {
    const model = createMinilmEmbedder();
    expect(model.ready).toBe(false);
    const documents = model.embed(["weather forecast", "a third text"], "background");
    const [file, disk] = await model.embed(["read a file", "load a document from disk"]);
    const [weather] = await documents;
    expect(model.ready).toBe(true);
    expect(model.dimensions).toBe(file?.length);
    expect(product(file!, disk!)).toBeGreaterThan(product(file!, weather!) + 0.2);
    const mixed = [
      "read a file",
      "read ".repeat(400),
      "",
      ...Array.from({ length: 40 }, (_, at) => `text number ${at}`),
    ];
    const together = await model.embed(mixed);
    expect(together[0]).toEqual(file);
    expect(await model.embed([mixed[42]!])).toEqual([together[42]]);
    await model[Symbol.asyncDispose]();
    await expect(model.embed(["too late"])).rejects.toThrow(/stopping/);
  },
);

test("a remote model gets batches, and its answers are checked", async () => {
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

test("an installed transformers.js embeds in a thread; a missing one is reported", async () => {
  await using folder = await makeFolder();
  const installed = join(folder.path, "node_modules", "@huggingface", "transformers");
  mkdirSync(installed, { recursive: true });
  writeFileSync(
    join(installed, "package.json"),
    JSON.stringify({ name: "@huggingface/transformers", main: "main.cjs" }),
  );
  // the answer of transformers.js: one flat list of numbers with its dimensions
  writeFileSync(
    join(installed, "main.cjs"),
    `exports.pipeline = async (task, model) => async (texts, { pooling, normalize }) => {
      if ([task, model, pooling, normalize].join() !== "feature-extraction,own,mean,true") throw new Error("not asked like that");
      return { dims: [texts.length, 2], data: Float32Array.from(texts.flatMap((text) => text === "a" ? [1, 0] : [0, 1])) };
    };`,
  );
  await using model = createTransformersEmbedder({ folder: folder.path, model: "own", dimensions: 2 });
  expect(model.id).toBe("transformers.js/own/2");
  expect(await model.embed(["a", "b"])).toEqual([Float32Array.of(1, 0), Float32Array.of(0, 1)]);
  await using longer = createTransformersEmbedder({ folder: folder.path, model: "own", dimensions: 3 });
  await expect(longer.embed(["a"])).rejects.toThrow("own gives vectors of 2 numbers, not of 3");
  await using empty = await makeFolder();
  await using missing = createTransformersEmbedder({ folder: empty.path, model: "own", dimensions: 2 });
  await expect(missing.embed(["a"])).rejects.toThrow("Cannot find module '@huggingface/transformers'");
});
