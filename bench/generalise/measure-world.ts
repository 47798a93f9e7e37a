import { Random } from "../../test/support/random.ts";
import type { BenchSession, Goal } from "../support/benchmark.ts";
import type { Mode } from "../world/style.ts";
import { calibrationError, type Prediction, reliability } from "./calibration.ts";
import { openGateway, type SeenCapability } from "./gateway.ts";
import { Learned } from "./learned.ts";
import { type Play, type PlayedStep, playStep } from "./play.ts";
import type { PlayedTask, PlayedWorld } from "./played-world.ts";
import { measureRefusal, measureReuse } from "./reuse.ts";

const SEED = 20_261_118;
/** Steps before the confidence is judged. */
const SETTLED_AFTER = 200;
const SHOWN_PROBLEMS = 12;

/** Plays every task of a world through PML, with an empty memory per mode. */
export async function measureWorld(world: PlayedWorld, session: BenchSession): Promise<void> {
  for (const mode of world.modes) {
    const report = new Report(session, world.name, mode);
    await using gateway = await openGateway(world);
    await world.reset();
    const seed = await world.read();
    const play = { world, pml: gateway.pml, mode, random: new Random(SEED), seed, learned: new Learned() };
    const steps = await playAll(play, session);
    reportMemory(play, await play.pml.readGroups(), report);
    reportSteps(steps, report);
    session.progress(`${world.name}, ${mode}: calling by name`);
    const known = new Map((await play.pml.listCapabilities()).map((each) => [each.id, each]));
    report.count("capabilities kept", known.size);
    await reportReuse(play, known, report);
  }
}

async function playAll(play: Play, session: BenchSession): Promise<PlayedStep[]> {
  const steps: PlayedStep[] = [];
  for (const task of shuffle(play.world.tasks, play.random)) {
    session.signal.throwIfAborted();
    if (steps.length % 50 === 0) session.progress(`${play.world.name}, ${play.mode}: step ${steps.length}`);
    steps.push(await playStep(play, task));
  }
  return steps;
}

function shuffle(tasks: readonly PlayedTask[], random: Random): PlayedTask[] {
  return tasks
    .map((task) => ({ task, rank: random.between(0, 1_000_000) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ task }) => task);
}

/** Writes figures of one world and mode. */
class Report {
  readonly #session: BenchSession;
  readonly #world: string;
  readonly #mode: Mode;

  constructor(session: BenchSession, world: string, mode: Mode) {
    this.#session = session;
    this.#world = world;
    this.#mode = mode;
  }

  figure(what: string, unit: string, value: number, goal?: Goal): void {
    const row = `${this.#world}: ${what}`;
    this.#session.record({ row, unit, column: this.#mode, value, ...(goal === undefined ? {} : { goal }) });
  }

  count(what: string, value: number, goal?: Goal): void {
    this.figure(what, "", value, goal);
  }

  /** Records nothing where there is nothing to have a share of. */
  share(what: string, part: number, whole: number, goal?: Goal): void {
    if (whole > 0) this.figure(what, "%", (100 * part) / whole, goal);
  }

  problems(what: string, problems: readonly string[]): void {
    if (problems.length === 0) return;
    const shown = problems.slice(0, SHOWN_PROBLEMS).map((problem) => `\n  ${problem}`);
    this.#session.note(`${this.#world}, ${this.#mode}: ${what} (${problems.length})${shown.join("")}`);
  }
}

const NONE: Goal = { atMost: 0 };

function reportMemory({ learned }: Play, groupOf: (capability: string) => string, report: Report): void {
  const groups = learned.behavioursOf(groupOf);
  const behaviours = new Set([...groups.values()].flatMap((each) => [...each])).size;
  const pairs = sum([...groups.values()].map(({ size }) => size));
  const mixed = [...groups.values()].filter(({ size }) => size > 1).map((each) => [...each].join(" = "));
  const uses = learned.uses();
  report.count("behaviours", behaviours);
  report.count("groups of capabilities per behaviour", pairs / behaviours, { atMost: 1.2 });
  report.count("variants per group", uses.length / groups.size);
  report.share("capabilities used at least twice", uses.filter((count) => count > 1).length, uses.length, {
    atLeast: 40,
  });
  report.count("groups of several behaviours", mixed.length, NONE);
  report.problems("groups of several behaviours", mixed);
}

function reportSteps(steps: readonly PlayedStep[], report: Report): void {
  const problems = steps.flatMap(({ problem }) => problem ?? []);
  report.count("solutions that failed", problems.length, NONE);
  report.problems("solutions that failed", problems);
  const again = steps.filter(({ isKnown }) => isKnown);
  const within = (places: number): number => again.filter(({ place = Infinity }) => place < places).length;
  report.share("known behaviour first", within(1), again.length);
  report.share("known behaviour among three", within(3), again.length);
  const filled = steps.map((step) => step.filled);
  const right = sum(filled.map((each) => each.right));
  const wrong = sum(filled.map((each) => each.wrong));
  const all = right + wrong + sum(filled.map((each) => each.open));
  report.share("parameters with a right value", right, all);
  report.share("parameters with a wrong value", wrong, all);
  report.count("wrong values not marked as proposals", sum(filled.map((each) => each.unmarked)), NONE);
  reportSpeculation(steps, report);
  reportCalibration(steps.slice(SETTLED_AFTER), report);
}

function reportSpeculation(steps: readonly PlayedStep[], report: Report): void {
  const decided = steps.flatMap(({ speculation }) => speculation ?? []);
  const right = decided.filter(({ isRight }) => isRight).length;
  report.count("speculative runs", decided.length);
  report.share("speculative runs that were right", right, decided.length, { atLeast: 98 });
  report.share("known behaviour run at once", right, steps.filter(({ isKnown }) => isKnown).length);
  report.count("wrong changes by speculation", decided.filter(({ isHarmful }) => isHarmful).length, NONE);
}

function reportCalibration(steps: readonly PlayedStep[], report: Report): void {
  const predictions = steps.flatMap(({ confidence, place }): Prediction[] =>
    confidence === undefined ? [] : [{ confidence, isRight: place === 0 }],
  );
  if (predictions.length === 0) return;
  const bins = reliability(predictions);
  report.count(`calibration error after ${SETTLED_AFTER} steps`, calibrationError(bins));
  for (const { from, count, right } of bins)
    report.figure(`confidence from ${from}: right (of ${count} steps)`, "%", 100 * right);
}

async function reportReuse(play: Play, known: ReadonlyMap<string, SeenCapability>, report: Report): Promise<void> {
  const { reusable, right, harmful, problems } = await measureReuse(play, known);
  report.share("reuse: called by name, gold state", right, reusable, { atLeast: play.world.reuseGoal });
  report.count("wrong changes by reuse", harmful, NONE);
  report.problems("reuse that failed", problems);
  const { calls, refused, harmful: harm } = await measureRefusal(play, known);
  report.share("arguments of another shape refused", refused, calls, { atLeast: 100 });
  report.count("wrong changes by arguments of another shape", harm, NONE);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
