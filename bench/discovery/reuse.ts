import { Random } from "../../test/support/random.ts";
import type { Dataset, DatasetQuery } from "./dataset.ts";
import { createNearness, guess, sample, toolOf } from "./nearness.ts";
import type { BenchSession } from "../support/benchmark.ts";

const SEED = 5;
const TASKS = 600;
const SHOWN = 5;
const RUN_ABOVE = 0.95;

/**
 * Runs tasks in sequence: a new one becomes a capability, and each use is remembered. Measures how often a known
 * capability is offered again, and how often one runs without being named.
 */
export function measureReuse(session: BenchSession, dataset: Dataset): void {
  const random = new Random(SEED);
  const nearness = createNearness();
  const single = [...dataset.train, ...dataset.queries].filter(({ relevant }) => relevant.length === 1);
  const memory = new Map<string, DatasetQuery[]>();
  const counts = { again: 0, first: 0, shown: 0, run: 0, rightlyRun: 0 };
  for (const task of sample(single, TASKS, random)) {
    const tool = toolOf(task);
    const { tools, confidence } = guess(memory, task.text, nearness);
    const place = tools.indexOf(tool);
    counts.again += place < 0 ? 0 : 1;
    counts.first += place === 0 ? 1 : 0;
    counts.shown += place >= 0 && place < SHOWN ? 1 : 0;
    counts.run += confidence >= RUN_ABOVE ? 1 : 0;
    counts.rightlyRun += confidence >= RUN_ABOVE && place === 0 ? 1 : 0;
    memory.set(tool, [...(memory.get(tool) ?? []), task]);
  }
  const { again, first, shown, run, rightlyRun } = counts;
  if (again === 0) return;
  const say = (what: string, value: number): void =>
    session.record({ row: `reuse, ${dataset.name}: ${what}`, unit: "%", column: "with", value: 100 * value });
  say("tasks that were done before", again / Math.min(TASKS, single.length));
  say("of those, offered first", first / again);
  say(`of those, among the ${SHOWN} offered`, shown / again);
  say("of those, run without being named", rightlyRun / again);
  if (run > 0) say("of what is run, right", rightlyRun / run);
}
