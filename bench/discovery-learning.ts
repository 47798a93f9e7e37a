import { createHash } from "node:crypto";
import type { Scope } from "../src/registry/scope.ts";
import type { Discovery } from "../src/discovery/discovery.ts";
import type { Embedder } from "../src/discovery/embedding/embedder.ts";
import { createMinilmEmbedder } from "../src/discovery/embedding/minilm-embedder.ts";
import { Random } from "../test/support/random.ts";
import { type Dataset, type DatasetQuery, openDatasets } from "./discovery/dataset.ts";
import { average, measureList } from "./discovery/metrics.ts";
import { type DiscoveryScene, embedAll, openScene, withoutDispose } from "./discovery/scene.ts";
import { cacheVectors } from "./discovery/vector-cache.ts";
import type { Benchmark, BenchSession } from "./support/benchmark.ts";

const SET = "metatool";
const USES = 5;
const SEED = 11;
/** Asks every nth query: enough to see a difference of one point. */
const SHARE = 8;
const USED_TOOLS_PERCENT = 20;

const PLAIN = "model as published";
const ADAPTED = "model with adapter";
const LITE = "word vectors";

/**
 * Measures the effect of confirmed uses on the ranking: other queries for the same tools enter the index as successful
 * intents.
 */
export const discoveryLearning: Benchmark = {
  title: "learning by use",
  columns: [PLAIN, ADAPTED, LITE],
  async run(session) {
    await using scene = await openScene();
    const dataset = openDatasets(session).find(({ name }) => name === SET);
    if (dataset === undefined) return session.note(`It takes the queries of the set ${SET}.`);
    await using plain = cacheVectors(createMinilmEmbedder({ plain: true }));
    for (const [column, embedder] of [
      [PLAIN, plain],
      [ADAPTED, scene.model],
      [LITE, undefined],
    ] as const) {
      session.progress(column);
      await measureColumn({ scene, dataset, session, column, embedder });
    }
    session.note(
      "The adapter and the word vectors were trained on queries of these tools; the gain that strangers' tools can expect is that of the model as published.",
    );
  },
};

interface MeasuredColumn {
  readonly scene: DiscoveryScene;
  readonly dataset: Dataset;
  readonly session: BenchSession;
  readonly column: string;
  readonly embedder: Embedder | undefined;
}

async function measureColumn({ scene, dataset, session, column, embedder }: MeasuredColumn): Promise<void> {
  const queries = dataset.queries.filter((_, at) => at % SHARE === 0);
  const random = new Random(SEED);
  const used = new Set(dataset.documents.map(({ id }) => id).filter(() => random.chance(USED_TOOLS_PERCENT)));
  const cold = queries.filter(({ relevant }) => relevant.every((id) => !used.has(id)));
  const measure = async (uses: readonly DatasetQuery[], asked: readonly DatasetQuery[]): Promise<number> => {
    const scope: Scope = { org: "bench", project: `${column} ${uses.length}` };
    await storeUses(scene, scope, uses);
    await using discovery = scene.createDiscovery(dataset.documents, embedder && withoutDispose(embedder));
    return await measureQueries({ discovery, scope, queries: asked, signal: session.signal });
  };
  const all = pickUses(dataset, () => true);
  const some = all.filter(({ relevant }) => relevant.every((id) => used.has(id)));
  const before = await measure([], queries);
  const gain = (await measure(all, queries)) - before;
  const loss = (await measure([], cold)) - (await measure(some, cold));
  const goals = column === PLAIN ? { gain: { goal: { atLeast: 7 } }, loss: { goal: { atMost: 1.5 } } } : undefined;
  session.record({ row: "nothing used", unit: "nDCG@10 × 100", column, value: before });
  session.record({ row: `gain from ${USES} uses of each tool`, unit: "points", column, value: gain, ...goals?.gain });
  session.record({ row: "loss of tools never used", unit: "points", column, value: loss, ...goals?.loss });
}

function pickUses({ train }: Dataset, accept: (id: string) => boolean): DatasetQuery[] {
  const random = new Random(SEED);
  const byTool = Map.groupBy(train, ({ relevant }) => relevant[0] ?? "");
  return [...byTool].flatMap(([id, queries]) => {
    if (!accept(id)) return [];
    const left = [...queries];
    return Array.from({ length: Math.min(USES, left.length) }, () => {
      const [query] = left.splice(random.between(0, left.length - 1), 1);
      return query as DatasetQuery;
    });
  });
}

async function storeUses({ client }: DiscoveryScene, scope: Scope, uses: readonly DatasetQuery[]): Promise<void> {
  const rows = uses.flatMap(({ text, relevant }) =>
    relevant.map((subject) => ({
      ...scope,
      subject,
      intent: text,
      intent_hash: createHash("md5").update(text).digest("hex"),
    })),
  );
  if (rows.length > 0) await client.db.insertInto("discovery_intent").values(rows).execute();
}

interface QueryBatch {
  readonly discovery: Discovery;
  readonly scope: Scope;
  readonly queries: readonly DatasetQuery[];
  readonly signal: AbortSignal;
}

async function measureQueries({ discovery, scope, queries, signal }: QueryBatch): Promise<number> {
  const viewer = { scope, principal: undefined };
  await embedAll(discovery, viewer, signal);
  const qualities = [];
  for (const query of queries) {
    signal.throwIfAborted();
    const { ranked } = await discovery.search(viewer, query.text, { limit: 10 });
    const ids = ranked.map(({ document }) => document.id);
    qualities.push(measureList(ids, query));
  }
  return average(qualities).ndcg10 * 100;
}
