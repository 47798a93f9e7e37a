import { analyseProgram } from "../src/analysis/analyse-program.ts";
import type { AnalysedProgram, ToolCatalogue } from "../src/analysis/structure.ts";
import { Random } from "../test/support/random.ts";
import { behaviourOf, type GoldTask } from "./generalise/gold-task.ts";
import { openScene } from "./discovery/scene.ts";
import { measureWorld } from "./generalise/measure-world.ts";
import { openOwnWorld } from "./generalise/own-world.ts";
import { measureRanking, RANKING, readTauTools } from "./generalise/ranking.ts";
import { findTauCheckout, openTauWorld, readTauTasks } from "./generalise/tau-world.ts";
import { writeProgram } from "./generalise/write-program.ts";
import type { Benchmark, BenchSession } from "./support/benchmark.ts";
import { percentile } from "./support/statistics.ts";
import { MODES } from "./world/style.ts";

const HASH = "program hash";
const KEY = "behaviour key";
const STYLES = 5;
const nothingKnown: ToolCatalogue = { findTool: () => undefined };

/**
 * Plays worlds through the product: does it find, join and reuse what it learned, and nothing else? Over public tasks it
 * also compares what counts as the same program. All programs are written in styles of their own.
 */
export const generalise: Benchmark = {
  title: "memory that generalises",
  columns: [HASH, KEY, RANKING, ...MODES],
  async run(session) {
    await measureOwnWorld(session);
    const checkout = session.worlds === undefined ? undefined : findTauCheckout(session.worlds);
    if (checkout === undefined)
      session.note("τ worlds: not measured. Name a checkout of tau-bench, or the folder that it is in, with --worlds.");
    else await measureTauWorlds(checkout, session);
  },
};

async function measureOwnWorld(session: BenchSession): Promise<void> {
  await using own = await openOwnWorld();
  await measureWorld(own, session);
}

async function measureTauWorlds(checkout: string, session: BenchSession): Promise<void> {
  const sets = readTauTasks(checkout);
  {
    await using scene = await openScene();
    for (const [name, tasks] of sets) {
      measureIdentity(name, tasks, session);
      const tools = readTauTools(checkout, name.includes("airline") ? "airline" : "retail");
      await measureRanking(scene, { name, tasks, tools }, session);
    }
  }
  for (const world of ["retail", "airline"] as const) {
    session.progress(`τ ${world}: gold states`);
    const tasks = [...sets].flatMap(([name, each]) => (name.includes(world) ? each : []));
    await using played = await openTauWorld(checkout, world, tasks);
    await measureWorld(played, session);
  }
}

function measureIdentity(name: string, tasks: readonly GoldTask[], session: BenchSession): void {
  session.progress(name);
  const random = new Random(7);
  const behaviours = new Map<string, { readonly hashes: Set<string>; readonly keys: Set<string> }>();
  const owners = new Map<string, Set<string>>();
  const times: number[] = [];
  let unknown = 0;
  for (const { calls } of tasks) {
    const behaviour = behaviourOf(calls);
    const seen = behaviours.get(behaviour) ?? { hashes: new Set(), keys: new Set() };
    behaviours.set(behaviour, seen);
    for (let style = 0; style < STYLES; style += 1) {
      const program = writeProgram("world", calls, random);
      const started = performance.now();
      const { hash, behaviour: found } = analyse(program);
      times.push(performance.now() - started);
      const key = found?.key;
      seen.hashes.add(hash);
      if (key === undefined) unknown += 1;
      seen.keys.add(key ?? hash);
      owners.set(key ?? "", (owners.get(key ?? "") ?? new Set()).add(behaviour));
    }
  }
  const programs = tasks.length * STYLES;
  const all = [...behaviours.values()];
  session.note(`${name}: ${tasks.length} tasks, ${all.length} behaviours, ${programs} programs.`);
  session.record({
    row: `${name}: keys per behaviour`,
    unit: "",
    column: HASH,
    value: mean(all.map(({ hashes }) => hashes.size)),
  });
  session.record({
    row: `${name}: keys per behaviour`,
    unit: "",
    column: KEY,
    value: mean(all.map(({ keys }) => keys.size)),
    goal: { atMost: 1.2 },
  });
  session.record({
    row: `${name}: keys shared by behaviours`,
    unit: "",
    column: KEY,
    value: [...owners.values()].filter(({ size }) => size > 1).length,
    goal: { atMost: 0 },
  });
  session.record({ row: `${name}: programs without a key`, unit: "", column: KEY, value: unknown });
  session.record({ row: `${name}: whole analysis, p50`, unit: "ms", column: KEY, value: percentile(times, 0.5) });
}

function mean(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
}

function analyse(program: string): AnalysedProgram {
  const outcome = analyseProgram(program, nothingKnown);
  if (outcome.kind !== "program") throw new Error(`${outcome.problem.message}\n${program}`);
  return outcome.program;
}
