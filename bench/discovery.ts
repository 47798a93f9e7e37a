import { Bm25f, countWords } from "../src/discovery/bm25f.ts";
import { MAX_DOCUMENT_PIECES, MAX_QUERY_PIECES, toEmbeddedText } from "../src/discovery/document-text.ts";
import { toQueryWords } from "../src/discovery/query.ts";
import { VectorMatrix } from "../src/discovery/vector-matrix.ts";
import { type Dataset, type DatasetQuery, openDatasets } from "./discovery/dataset.ts";
import { average, measureList, type Quality } from "./discovery/metrics.ts";
import { type DiscoveryScene, openScene } from "./discovery/scene.ts";
import type { Benchmark, Goal, BenchSession } from "./support/benchmark.ts";

const SYSTEMS = ["product", "bm25f", "vector", "rrf", "lite", "lexical"] as const;
type System = (typeof SYSTEMS)[number];
type Rank = (query: DatasetQuery) => Promise<readonly string[]>;
type Results = Readonly<Record<System, Quality>>;

const DEEPEST = 100;
const RRF_CONSTANT = 60;
/** Sets whose tools no model was trained on. */
const CLEAN = ["apibank", "restbench-spotify", "restbench-tmdb", "toolalpaca"];

/** Measures how often the index finds the right tools, beside its parts and reciprocal rank fusion. */
export const discovery: Benchmark = {
  title: "finding tools by intent",
  columns: [...SYSTEMS],
  async run(session) {
    await using scene = await openScene();
    const results = new Map<string, Results>();
    for (const dataset of openDatasets(session)) {
      session.progress(`${dataset.name}, ${dataset.documents.length} tools, ${dataset.queries.length} queries`);
      const measured = await measureSet(scene, dataset, session);
      results.set(dataset.name, measured);
      report(session, dataset.name, measured, {});
    }
    if (results.size === 0) return;
    const goals = { product: { atLeast: 80 }, lexical: { atLeast: 70 } };
    report(session, "macro", combine([...results.values()]), goals);
    const clean = CLEAN.flatMap((name) => results.get(name) ?? []);
    if (clean.length === CLEAN.length) report(session, "clean sets", combine(clean), { product: { atLeast: 77 } });
    session.publish({ datasets: Object.fromEntries([...results].map(([name, each]) => [name, pick(each)])) });
  },
};

function pick({ product, bm25f, vector, rrf }: Results): Omit<Results, "lite" | "lexical"> {
  return { product, bm25f, vector, rrf };
}

async function measureSet(scene: DiscoveryScene, dataset: Dataset, { signal }: BenchSession): Promise<Results> {
  const { documents, queries, name } = dataset;
  const viewer = { scope: { org: "bench", project: name }, principal: undefined };
  const full = scene.createDiscovery(documents, scene.model);
  await full.warmUp(viewer);
  while ((await full.status(viewer)).tier !== "full") {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const lite = scene.createDiscovery(documents, undefined);
  const bare = await createBareRankers(scene, documents);
  const asGateway =
    (searching: typeof full): Rank =>
    async ({ text }) =>
      (await searching.search(viewer, text, { limit: DEEPEST })).ranked.map(({ document }) => document.id);
  const ranks = { product: asGateway(full), lite: asGateway(lite), ...bare };
  const measured = { product: [], bm25f: [], vector: [], rrf: [], lite: [], lexical: [] } as Record<System, Quality[]>;
  for (const query of queries) {
    signal.throwIfAborted();
    for (const system of SYSTEMS) measured[system].push(measureList(await ranks[system](query), query));
  }
  return Object.fromEntries(SYSTEMS.map((system) => [system, average(measured[system])])) as unknown as Results;
}

/** Creates the parts alone, and their fusion by rank, as other products do it. */
async function createBareRankers(
  scene: DiscoveryScene,
  documents: Dataset["documents"],
): Promise<Record<"bm25f" | "vector" | "rrf" | "lexical", Rank>> {
  const { language, model } = scene;
  const { wordpiece } = language;
  const index = new Bm25f();
  documents.forEach((document, slot) => index.add(slot, countWords(document)));
  const texts = documents.map((document) => wordpiece.cut(toEmbeddedText(document), MAX_DOCUMENT_PIECES));
  const matrix = new VectorMatrix(model.dimensions);
  (await model.embed(texts)).forEach((vector, slot) => matrix.set(slot, vector));
  const toIds = (scores: Float64Array): string[] =>
    [...scores.keys()]
      .toSorted((a, b) => (scores[b] as number) - (scores[a] as number))
      .map((slot) => documents[slot]?.id ?? "");
  const byWords = ({ text }: DatasetQuery): string[] => {
    const scores = new Float64Array(documents.length);
    index.createScore()(toQueryWords(text), scores);
    return toIds(scores);
  };
  const byMeaning = async ({ text }: DatasetQuery): Promise<string[]> => {
    const [vector = new Float32Array(0)] = await model.embed([wordpiece.cut(text, MAX_QUERY_PIECES)]);
    const scores = new Float64Array(documents.length);
    matrix.compare(vector, scores);
    return toIds(scores);
  };
  const pool = scene.createLexical(documents);
  return {
    bm25f: async (query) => byWords(query).slice(0, DEEPEST),
    vector: async (query) => (await byMeaning(query)).slice(0, DEEPEST),
    rrf: async (query) => fuseByRank([byWords(query), await byMeaning(query)]),
    lexical: async ({ text }) => pool(text, DEEPEST),
  };
}

function fuseByRank(lists: readonly (readonly string[])[]): string[] {
  const scores = new Map<string, number>();
  for (const list of lists) {
    list.forEach((id, at) => scores.set(id, (scores.get(id) ?? 0) + 1 / (RRF_CONSTANT + at + 1)));
  }
  return [...scores]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, DEEPEST)
    .map(([id]) => id);
}

function combine(all: readonly Results[]): Results {
  return Object.fromEntries(
    SYSTEMS.map((system) => [system, average(all.map((each) => each[system]))]),
  ) as unknown as Results;
}

function report(session: BenchSession, name: string, results: Results, goals: Partial<Record<System, Goal>>): void {
  for (const system of SYSTEMS) {
    const goal = goals[system] === undefined ? {} : { goal: goals[system] };
    const { ndcg10, r5, r10, mrr, r1 } = results[system];
    session.record({ row: name, unit: "nDCG@10 %", column: system, value: percent(ndcg10), ...goal });
    if (name !== "macro") continue;
    session.record({ row: name, unit: "recall@1 %", column: system, value: percent(r1) });
    session.record({ row: name, unit: "recall@5 %", column: system, value: percent(r5) });
    session.record({ row: name, unit: "recall@10 %", column: system, value: percent(r10) });
    session.record({ row: name, unit: "MRR %", column: system, value: percent(mrr) });
  }
}

function percent(share: number): number {
  return Math.round(share * 1000) / 10;
}
