import { Random } from "../test/support/random.ts";
import { type Dataset, type DatasetQuery, openDatasets } from "./discovery/dataset.ts";
import { createNearness, guess, type IntentMemory, type Nearness, sample, toolOf } from "./discovery/nearness.ts";
import type { Benchmark, BenchSession } from "./support/benchmark.ts";

const SEED = 20_261_115;
const ROUNDS = 20;
const QUERIES_PER_ROUND = 100;
/** Numbers of capabilities in memory, and of intents each was used for. */
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
const FEWEST_RIGHT = 0.98;
/** Thresholds of the nearness, in rising order. */
const NEARNESSES = [0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.92] as const;

interface Trial {
  readonly right: boolean;
  /** The intended capability is in memory. */
  readonly known: boolean;
  readonly nearness: number;
  readonly confidence: number;
}

interface Shares {
  /** Share of the runs; 1 if nothing runs. */
  readonly right: number;
  readonly found: number;
  readonly invented: number;
}

/**
 * Simulates speculative runs and counts the right ones: each tool stands for a capability that was used for some of its
 * queries, and the other queries are asked. "right" is the share of runs when half of the queries are about something
 * not in memory.
 */
export const speculation: Benchmark = {
  title: "running what is surely meant",
  columns: ["right", "found", "run although unknown"],
  run(session) {
    const nearness = createNearness();
    const all = new Map<string, readonly Trial[]>();
    for (const dataset of openDatasets(session)) {
      session.progress(dataset.name);
      const trials = simulate(dataset, nearness);
      if (!trials.some(({ known }) => known)) continue;
      all.set(dataset.name, trials);
      for (const threshold of THRESHOLDS) {
        const row = `${dataset.name}, confidence ≥ ${threshold}`;
        const isRun = ({ confidence }: Trial): boolean => confidence >= threshold;
        record(session, row, measure(trials, isRun), threshold === DEFAULT_THRESHOLD);
      }
    }
    leaveOneOut(session, all);
    session.note(
      "The word vectors were trained with other queries of metatool and sealtools; the other sets are clean.",
    );
    return Promise.resolve();
  },
};

function measure(trials: readonly Trial[], isRun: (trial: Trial) => boolean): Shares {
  const known = trials.filter((trial) => trial.known);
  const unknown = trials.filter((trial) => !trial.known);
  const shareOf = (of: readonly Trial[], isCounted: (trial: Trial) => boolean): number =>
    of.filter((trial) => isRun(trial) && isCounted(trial)).length / Math.max(1, of.length);
  const found = shareOf(known, ({ right }) => right);
  const mistaken = shareOf(known, ({ right }) => !right);
  const invented = shareOf(unknown, () => true);
  const run = found + mistaken + invented;
  return { right: run === 0 ? 1 : found / run, found, invented };
}

function record(session: BenchSession, row: string, { right, found, invented }: Shares, hasGoal: boolean): void {
  const goal = hasGoal ? { goal: { atLeast: FEWEST_RIGHT } } : {};
  session.record({ row, unit: "", column: "right", value: right, ...goal });
  session.record({ row, unit: "", column: "found", value: found });
  session.record({ row, unit: "", column: "run although unknown", value: invented });
}

/** Finds the lowest nearness that reaches the goal on the other sets, and tests it on the one left out. */
function leaveOneOut(session: BenchSession, all: ReadonlyMap<string, readonly Trial[]>): void {
  const isRunFrom =
    (least: number) =>
    ({ nearness, confidence }: Trial): boolean =>
      nearness >= least && confidence >= Math.min(DEFAULT_THRESHOLD, HELD_BACK);
  for (const [name, trials] of all) {
    const others = [...all].filter(([other]) => other !== name).map(([, each]) => each);
    const least = NEARNESSES.find((at) => others.every((each) => measure(each, isRunFrom(at)).right >= FEWEST_RIGHT));
    if (least === undefined) continue;
    const row = `${name}, nearness ≥ ${least} as chosen on the other sets`;
    record(session, row, measure(trials, isRunFrom(least)), false);
  }
}

/** Cap on the confidence of a match that is not in nearly the same words. */
const HELD_BACK = 0.94;

function simulate({ queries, train }: Dataset, nearness: Nearness): Trial[] {
  const random = new Random(SEED);
  const single = [...train, ...queries].filter(({ relevant }) => relevant.length === 1);
  const uses = Map.groupBy(single, toolOf);
  const tools = [...uses.keys()];
  return MEMORIES.filter(([size]) => size <= tools.length).flatMap(([size, intents]) =>
    Array.from({ length: ROUNDS }, () => {
      const chosen = sample(tools, size, random);
      // Leaves at least one query to ask.
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
  memory: IntentMemory,
  { single, random, nearness }: { single: readonly DatasetQuery[]; random: Random; nearness: Nearness },
): Trial[] {
  const used = new Set([...memory.values()].flat());
  const left = single.filter((query) => !used.has(query));
  const known = left.filter((query) => memory.has(toolOf(query)));
  const unknown = left.filter((query) => !memory.has(toolOf(query)));
  return [...sample(known, QUERIES_PER_ROUND, random), ...sample(unknown, QUERIES_PER_ROUND, random)].map((query) => {
    const { tools, nearness: at, confidence } = guess(memory, query.text, nearness);
    return { right: tools[0] === toolOf(query), known: memory.has(toolOf(query)), nearness: at, confidence };
  });
}
