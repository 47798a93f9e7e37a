import { type Example, readExamples } from "./naming/evaluation-set.ts";
import { type NamingTask, readTasks } from "./naming/task-set.ts";
import { inferNamespace } from "../src/naming/namespace-rules.ts";
import type { Nameable } from "../src/naming/nameable.ts";
import { type ProposedName, proposeName } from "../src/naming/propose-name.ts";
import type { Benchmark, BenchSession } from "./support/benchmark.ts";

const PML = "PML";
const AUTO_THRESHOLD = 0.8;
const GOAL_PERCENT = 80;

/** Naive baselines. */
const proposers: Readonly<Record<string, (nameable: Nameable) => string>> = {
  "last tool": ({ tools, code }) => {
    const last = tools.toSorted((a, b) => code.lastIndexOf(toolName(a)) - code.lastIndexOf(toolName(b))).at(-1);
    return `${inferNamespace(tools).namespace}:${last === undefined ? "run" : toolName(last).replaceAll("-", "_")}`;
  },
  "three words": ({ tools, intents: [intent = ""] }) =>
    `${inferNamespace(tools).namespace}:${(intent.toLowerCase().match(/[a-z0-9]+/g) ?? []).slice(0, 3).join("_")}`,
  [PML]: (nameable) => proposeName(nameable).name,
};

function toolName(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}

/** Measures how many names proposed without a language model a person would accept unchanged. */
export const naming: Benchmark = {
  title: "names for programs, without a language model",
  columns: Object.keys(proposers),
  run(session) {
    for (const [half, programs] of Object.entries(inHalves(readExamples())))
      recordSet(session, { what: `programs, ${half}`, members: programs, withGoal: half === SET_ASIDE });
    for (const [half, tasks] of Object.entries(inHalves(readTasks().map(withoutNamespace)))) {
      recordSet(session, { what: `tasks, ${half}`, members: tasks, withGoal: half === SET_ASIDE });
      recordForeign(session, `tasks, ${half}`, tasks);
    }
    return Promise.resolve();
  },
};

const SET_ASIDE = "set aside";

function inHalves<T extends Example>(all: readonly T[]): Readonly<Record<string, readonly T[]>> {
  return { "worked on": all.filter((each) => !each.setAside), [SET_ASIDE]: all.filter((each) => each.setAside) };
}

/** A task's acceptable names are actions; any namespace goes with them. */
function withoutNamespace(task: NamingTask): NamingTask {
  return { ...task, acceptable: { has: (name: string) => task.acceptable.has(toolName(name)) } };
}

interface MeasuredSet {
  readonly what: string;
  readonly members: readonly Example[];
  readonly withGoal: boolean;
}

function recordSet(session: BenchSession, { what, members, withGoal }: MeasuredSet): void {
  for (const [column, propose] of Object.entries(proposers)) {
    const value = percent(members, ({ nameable, acceptable }) => acceptable.has(propose(nameable)));
    const goal = column === PML && withGoal ? { goal: { atLeast: GOAL_PERCENT } } : {};
    session.record({ row: `acceptable, ${what} (${members.length})`, unit: "%", column, value, ...goal });
  }
  recordConfidence(session, what, members);
}

/** Counts names and variants with a person's name, an id, a value or another word that only the task has. */
function recordForeign(session: BenchSession, what: string, tasks: readonly NamingTask[]): void {
  for (const [column, propose] of Object.entries(proposers)) {
    const value = tasks.filter(({ nameable, foreign }) => foreign(propose(nameable)).length > 0).length;
    const goal = column === PML ? { goal: { atMost: 0 } } : {};
    session.record({ row: `with a word of the task, ${what}`, unit: "names", column, value, ...goal });
  }
  const variants = tasks.filter(({ nameable, foreign }) =>
    variantsOf(proposeName(nameable)).some((name) => foreign(name).length > 0),
  );
  const row = `with variants that have one, ${what}`;
  session.record({ row, unit: "names", column: PML, value: variants.length, goal: { atMost: 0 } });
}

function variantsOf({ name, qualifiers }: ProposedName): string[] {
  return qualifiers.map((word) => `${name}_${word}`);
}

/** Measures whether the names above the confidence threshold are right. */
function recordConfidence(session: BenchSession, what: string, members: readonly Example[]): void {
  const proposed = members.map((each) => ({ ...each, proposed: proposeName(each.nameable) }));
  const sure = proposed.filter((each) => each.proposed.confidence > AUTO_THRESHOLD);
  const share = percent(proposed, (each) => sure.includes(each));
  const right = percent(sure, ({ acceptable, proposed: { name } }) => acceptable.has(name));
  session.record({ row: `above ${AUTO_THRESHOLD}, ${what}`, unit: "%", column: PML, value: share });
  session.record({ row: `acceptable above ${AUTO_THRESHOLD}, ${what}`, unit: "%", column: PML, value: right });
}

function percent<T>(all: readonly T[], holds: (each: T) => boolean): number {
  return all.length === 0 ? 0 : (100 * all.filter(holds).length) / all.length;
}
