import { splitClauses } from "../src/discovery/clauses.ts";
import { countWords } from "../src/discovery/bm25f.ts";
import type { Embedder } from "../src/discovery/embedding/embedder.ts";
import { normalise } from "../src/discovery/embedding/encoder/unit-vector.ts";
import { createMinilmEmbedder } from "../src/discovery/embedding/minilm-embedder.ts";
import type { Language } from "../src/discovery/discovery.ts";
import type { SearchDocument } from "../src/discovery/search.ts";
import { SearchPool } from "../src/discovery/search-pool.ts";
import { VectorMatrix } from "../src/discovery/vector-matrix.ts";
import { Random } from "../test/support/random.ts";
import { openDatasets } from "./discovery/dataset.ts";
import { byWordsAlone, type DiscoveryScene, openScene } from "./discovery/scene.ts";
import type { Benchmark, Goal, BenchSession } from "./support/benchmark.ts";
import { timeEach } from "./support/interleave.ts";
import { percentile } from "./support/statistics.ts";

const SIZES = [10_000, 100_000] as const;
const SEARCHES = 100;
/** Searches that do not count: a gateway runs all day, so compiling is left out. */
const WARM_UPS = 100;
const WORD_SEARCHES = WARM_UPS + 300;
const MODEL_SEARCHES = 40;
const MB = 2 ** 20;

const columns = SIZES.map((size) => `${size.toLocaleString("en-US")} items`);

/** Measures the time of a search, part by part, and the cost of an index. */
export const discoverySpeed: Benchmark = {
  title: "speed of discovery",
  columns,
  async run(session) {
    await using scene = await openScene();
    const [largest] = openDatasets(session).toSorted((a, b) => b.documents.length - a.documents.length);
    if (largest === undefined) return;
    const texts = largest.queries.map(({ text }) => text);
    // Uses a model of its own: the scene's would return vectors cached by an earlier run.
    await using model = createMinilmEmbedder();
    await model.embed(["warm"], "request");
    for (const [at, size] of SIZES.entries()) {
      const column = columns[at] ?? "";
      const documents = multiply(largest.documents, size);
      session.progress(`${column}: vectors and words`);
      const part = { column, documents, texts, scene, model };
      const pool = await measureParts(session, part);
      session.progress(`${column}: with the model`);
      await measureRanking(session, part, pool);
      if (size === SIZES[0]) await measureWhole(session, part);
    }
  },
};

/** Multiplies the documents: alike in kind, different in words. */
function multiply(documents: readonly SearchDocument[], size: number): SearchDocument[] {
  return Array.from({ length: size }, (_, at) => {
    const base = documents[at % documents.length] as SearchDocument;
    const copy = Math.floor(at / documents.length);
    return copy === 0
      ? base
      : { ...base, id: `${base.id}-${copy}`, name: `${base.name}${copy}`, server: `${base.server} ${copy}` };
  });
}

interface Part {
  readonly column: string;
  readonly documents: readonly SearchDocument[];
  readonly texts: readonly string[];
  readonly scene: DiscoveryScene;
  readonly model: Embedder;
}

interface Times {
  readonly row: string;
  readonly column: string;
  readonly times: readonly number[];
  readonly goal?: Goal;
}

function recordTimes(session: BenchSession, { row, column, times, goal }: Times): void {
  session.record({ row: `${row}, p50`, unit: "ms", column, value: percentile(times, 0.5) });
  session.record({ row: `${row}, p95`, unit: "ms", column, value: percentile(times, 0.95), ...(goal && { goal }) });
}

async function measureParts(session: BenchSession, part: Part): Promise<SearchPool> {
  const { column, documents, texts, scene } = part;
  const small = documents.length === SIZES[0];
  const random = new Random(3);
  const matrix = new VectorMatrix(scene.model.dimensions);
  const vector = (): Float32Array =>
    normalise(Float32Array.from({ length: scene.model.dimensions }, () => random.between(-1000, 1000)));
  const some = Array.from({ length: 500 }, vector);
  documents.forEach((_, slot) => matrix.set(slot, some[slot % some.length] as Float32Array));
  const cosines = new Float64Array(documents.length);
  const scans = await timeEach(SEARCHES, async () => matrix.compare(vector(), cosines));
  recordTimes(session, { row: "vector scan", column, times: scans, goal: { atMost: small ? 1 : 6 } });

  const before = process.memoryUsage().rss;
  const started = performance.now();
  const pool = new SearchPool();
  for (const document of documents) pool.add({ document, words: countWords(document) });
  session.record({ row: "build of the word index", unit: "s", column, value: (performance.now() - started) / 1000 });
  session.record({ row: "its memory", unit: "MB", column, value: (process.memoryUsage().rss - before) / MB });
  let next = 0;
  const lexical = await timeEach(WORD_SEARCHES, async () => {
    const text = texts[next++ % texts.length] ?? "";
    const corrected = pool.correct(text, (word) => scene.language.wordpiece.isWord(word));
    pool.rank({ ...byWordsAlone, text: corrected, clauses: splitClauses(corrected), limit: 10 });
  });
  recordTimes(session, {
    row: "words alone",
    column,
    times: lexical.slice(WARM_UPS),
    ...(small && { goal: { atMost: 3 } }),
  });
  documents.forEach(({ id }, at) => pool.setVector("full", id, some[at % some.length] as Float32Array));
  return pool;
}

/** Splits the texts by length, with the time limit for each. */
function byLength({ texts, scene }: Part): (readonly [string, readonly string[], number])[] {
  const pieces = (text: string): number => scene.language.wordpiece.split(text).length;
  return [
    ["up to 20 tokens", texts.filter((text) => pieces(text) <= 20), 70],
    ["60 tokens and more", texts.filter((text) => pieces(text) >= 60), 250],
  ];
}

/** Measures model, vectors and words, without the index's reads from the database. */
async function measureRanking(session: BenchSession, part: Part, pool: SearchPool): Promise<void> {
  let next = 0;
  for (const [length, some, atMost] of byLength(part)) {
    const times = await timeEach(MODEL_SEARCHES, async () => {
      const text = `${some[next % some.length] ?? ""} ${next++}`;
      const vectors = await part.model.embed([text], "request");
      pool.rank({ ...byWordsAlone, tier: "full", vectors, text, clauses: splitClauses(text), limit: 10 });
    });
    const row = `embedded and ranked, ${length}`;
    recordTimes(session, { row, column: part.column, times: times.slice(5), goal: { atMost } });
  }
}

async function measureWhole(session: BenchSession, part: Part): Promise<void> {
  const { column, documents, scene, model } = part;
  const viewer = { scope: { org: "bench", project: "speed" }, principal: undefined };
  const embedder = withFakeDocuments(model, scene.language);
  const discovery = scene.createDiscovery(documents, embedder);
  const started = performance.now();
  await discovery.warmUp(viewer);
  const prepared = (performance.now() - started) / 1000;
  session.record({ row: "cold build, word vectors included", unit: "s", column, value: prepared });
  while ((await discovery.status(viewer)).tier !== "full") await new Promise((resolve) => setTimeout(resolve, 50));
  let next = 0;
  for (const [length, some, atMost] of byLength(part)) {
    const times = await timeEach(MODEL_SEARCHES, async () => {
      // Changes the words each time: a repeated question is not embedded again.
      await discovery.search(viewer, `${some[next % some.length] ?? ""} ${next++}`, { limit: 10 });
    });
    recordTimes(session, { row: `whole search, ${length}`, column, times: times.slice(5), goal: { atMost } });
  }
}

/** Embeds queries only; the values of the documents' vectors do not affect the time. */
function withFakeDocuments(model: Embedder, language: Language): Embedder {
  const random = new Random(5);
  const madeUp = Array.from({ length: 500 }, () =>
    normalise(Float32Array.from({ length: model.dimensions }, () => random.between(-1000, 1000))),
  );
  return {
    id: "made-up",
    dimensions: model.dimensions,
    ready: true,
    prepare: () => undefined,
    embed: (texts, urgency = "request") =>
      urgency === "background"
        ? Promise.resolve(texts.map((text) => madeUp[language.wordpiece.split(text).length % 500]!))
        : model.embed(texts, urgency),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
