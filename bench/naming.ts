import { type Example, readExamples } from "./naming/evaluation-set.ts";
import { inferNamespace } from "../src/naming/namespace-rules.ts";
import type { Nameable } from "../src/naming/nameable.ts";
import { proposeName } from "../src/naming/propose-name.ts";
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
    const examples = readExamples();
    const halves = {
      "worked on": examples.filter((each) => !each.setAside),
      "set aside": examples.filter((each) => each.setAside),
    };
    for (const [half, members] of Object.entries(halves)) {
      for (const [column, propose] of Object.entries(proposers)) {
        const value = percent(members, ({ nameable, acceptable }) => acceptable.has(propose(nameable)));
        const goal = column === PML && half === "set aside" ? { goal: { atLeast: GOAL_PERCENT } } : {};
        session.record({ row: `acceptable, ${half} (${members.length})`, unit: "%", column, value, ...goal });
      }
      recordConfidence(session, half, members);
    }
    return Promise.resolve();
  },
};

/** Measures whether the names above the confidence threshold are right. */
function recordConfidence(session: BenchSession, half: string, members: readonly Example[]): void {
  const proposed = members.map((each) => ({ ...each, proposed: proposeName(each.nameable) }));
  const sure = proposed.filter((each) => each.proposed.confidence > AUTO_THRESHOLD);
  const share = percent(proposed, (each) => sure.includes(each));
  const right = percent(sure, ({ acceptable, proposed: { name } }) => acceptable.has(name));
  session.record({ row: `above ${AUTO_THRESHOLD}, ${half}`, unit: "%", column: PML, value: share });
  session.record({ row: `acceptable above ${AUTO_THRESHOLD}, ${half}`, unit: "%", column: PML, value: right });
}

function percent<T>(all: readonly T[], holds: (each: T) => boolean): number {
  return all.length === 0 ? 0 : (100 * all.filter(holds).length) / all.length;
}
