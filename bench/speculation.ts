import { intentConfidence } from "../src/discovery/intent-confidence.ts";
import { tokenizerPath } from "../src/discovery/embedding/minilm-embedder.ts";
import { readStaticEmbedder } from "../src/discovery/embedding/static-embedder.ts";
import { readWordpiece } from "../src/discovery/embedding/wordpiece.ts";
import { Random } from "../test/support/random.ts";
import { type Dataset, type Query, openDatasets } from "./discovery/dataset.ts";
import type { Benchmark } from "./support/benchmark.ts";

const SEED = 20_261_115;
const ROUNDS = 8;
const QUERIES_PER_ROUND = 100;
/** Capabilities in memory, and intents each was used for. */
const MEMORIES = [
  [2, 1],
  [5, 1],
  [20, 1],
  [20, 3],
  [60, 2],
  [100, 3],
] as const;
const THRESHOLDS = [0.8, 0.9, 0.95] as const;
const DEFAULT_THRESHOLD = 0.95;
const FEWEST_RIGHT = 0.9;

interface Trial {
  readonly right: boolean;
  /** What is meant is in memory. */
  readonly known: boolean;
  readonly confidence: number;
}

/**
 * What would be run by itself, and how often rightly: each tool stands for a capability that was used for some of its
 * queries, and others are asked. Right is the share of what is run when half of the queries are about something not in memory.
 */
export const speculation: Benchmark = {
  title: "running what is surely meant",
  columns: ["right", "found", "run although unknown"],
  run(session) {
    const nearness = createNearness();
    for (const dataset of openDatasets(session)) {
      session.progress(dataset.name);
      const trials = simulate(dataset, nearness);
      const known = trials.filter((trial) => trial.known);
      const unknown = trials.filter((trial) => !trial.known);
      if (known.length === 0) continue;
      for (const threshold of THRESHOLDS) {
        const row = `${dataset.name}, confidence ≥ ${threshold}`;
        const shareOf = (of: readonly Trial[], isCounted: (trial: Trial) => boolean): number =>
          of.filter((trial) => trial.confidence >= threshold && isCounted(trial)).length / of.length;
        const found = shareOf(known, ({ right }) => right);
        const mistaken = shareOf(known, ({ right }) => !right);
        const invented = shareOf(unknown, () => true);
        const goal = threshold === DEFAULT_THRESHOLD ? { goal: { atLeast: FEWEST_RIGHT } } : {};
        const right = found / (found + mistaken + invented);
        session.record({ row, unit: "", column: "right", value: Number.isNaN(right) ? 1 : right, ...goal });
        session.record({ row, unit: "", column: "found", value: found });
        session.record({ row, unit: "", column: "run although unknown", value: invented });
      }
    }
    session.note(
      "The word vectors were trained with other queries of metatool and sealtools; the other sets are clean.",
    );
    return Promise.resolve();
  },
};

type Nearness = (a: string, b: string) => number;

function createNearness(): Nearness {
  const table = readStaticEmbedder(readWordpiece(tokenizerPath));
  const vectors = new Map<string, Float32Array>();
  const embed = (text: string): Float32Array => {
    const vector = vectors.get(text) ?? table.embed(text);
    vectors.set(text, vector);
    return vector;
  };
  return (a, b) => {
    const other = embed(b);
    return embed(a).reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
  };
}

function simulate({ queries, train }: Dataset, nearness: Nearness): Trial[] {
  const random = new Random(SEED);
  const single = [...train, ...queries].filter(({ relevant }) => relevant.length === 1);
  const uses = Map.groupBy(single, toolOf);
  const tools = [...uses.keys()];
  return MEMORIES.filter(([size]) => size <= tools.length).flatMap(([size, intents]) =>
    Array.from({ length: ROUNDS }, () => {
      const chosen = sample(tools, size, random);
      // One query at least is left to be asked.
      const memory = new Map(
        chosen.map((tool) => {
          const known = uses.get(tool) ?? [];
          return [tool, sample(known, Math.min(intents, Math.max(1, known.length - 1)), random)];
        }),
      );
      return askMemory(memory, { single, random, nearness });
    }).flat(),
  );
}

function askMemory(
  memory: ReadonlyMap<string, readonly Query[]>,
  { single, random, nearness }: { single: readonly Query[]; random: Random; nearness: Nearness },
): Trial[] {
  const used = new Set([...memory.values()].flat());
  const left = single.filter((query) => !used.has(query));
  const known = left.filter((query) => memory.has(toolOf(query)));
  const unknown = left.filter((query) => !memory.has(toolOf(query)));
  return [...sample(known, QUERIES_PER_ROUND, random), ...sample(unknown, QUERIES_PER_ROUND, random)].map((query) => {
    const near = [...memory]
      .map(([tool, intents]) => ({ tool, at: Math.max(...intents.map(({ text }) => nearness(query.text, text))) }))
      .toSorted((a, b) => b.at - a.at);
    const [best, next] = near;
    const signals = { nearness: best?.at ?? 0, nextNearness: next?.at ?? 0, pool: near.length };
    return {
      right: best?.tool === toolOf(query),
      known: memory.has(toolOf(query)),
      confidence: intentConfidence(signals),
    };
  });
}

function toolOf({ relevant }: Query): string {
  return relevant[0] ?? "";
}

function sample<T>(items: readonly T[], count: number, random: Random): T[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, items.length) }, () => {
    const at = random.between(0, left.length - 1);
    const picked = left[at] as T;
    left[at] = left.at(-1) as T;
    left.pop();
    return picked;
  });
}
