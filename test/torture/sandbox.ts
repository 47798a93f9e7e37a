import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ProcessSandbox } from "../../src/sandbox/sandbox.ts";
import { type HostileProgram, hostilePrograms, isClean, judge, limitsFor, watchMemory } from "../support/hostile.ts";
import { isAlive, openSandbox, runProgram } from "../support/sandbox.ts";
import { Random } from "../support/random.ts";
import type { CaseOptions, CaseOutcome, TortureCase } from "./torture-case.ts";

export const sandbox: TortureCase = {
  name: "sandbox",
  promise: "runs are right, and need no more memory or processes in the end, with hostile ones among them",
  defaultRounds: 10_000,
  parts: ["soak", "quickjs"],
  run: async (options) => {
    const wants = (part: string): boolean => options.only.length === 0 || options.only.includes(part);
    const outcomes = [
      ...(wants("soak") ? [await runSoak(options)] : []),
      ...(wants("quickjs") ? [await runAllOnQuickJs()] : []),
    ];
    return {
      holds: outcomes.every(({ holds }) => holds),
      problems: outcomes.flatMap(({ problems }) => problems),
      table: outcomes.flatMap(({ table }) => table),
    };
  },
};

/** Runs every hostile program once on the fallback engine. */
async function runAllOnQuickJs(): Promise<CaseOutcome> {
  await using opened = openSandbox({ engine: "quickjs", idleChildren: 2 });
  const problems: string[] = [];
  for (const program of hostilePrograms) {
    const outcome = await runProgram(opened, program.code, { limits: limitsFor(program, LIMITS) });
    const problem = judge(program, outcome, "quickjs");
    if (problem !== undefined) problems.push(`${program.id} on QuickJS ${problem}`);
    if (!(await isClean(opened))) problems.push(`${program.id} on QuickJS changed the next run`);
  }
  const runs = hostilePrograms.length;
  return { holds: problems.length === 0, problems, table: [{ runs, hostile: runs, wrong: problems.length }] };
}

const AT_ONCE = 4;
const HOSTILE_PERCENT = 4;
const LIMITS = { cpuMs: 1_000, wallMs: 1_200 };
const MAX_GROWTH_MB = 20;
/** The memory cap of a child plus its allocations between two measurements. */
const MAX_CHILD_MB = 512 + 256;

async function runSoak({ rounds, seed, say }: CaseOptions): Promise<CaseOutcome> {
  const opened = openSandbox({ idleChildren: 2 });
  const soak = new Soak(opened, new Random(seed), say);
  try {
    // One-time allocations happen in the first tenth.
    await soak.run(Math.ceil(rounds / 10));
    const before = readHeapMb();
    await soak.run(rounds - Math.ceil(rounds / 10));
    const growthMb = readHeapMb() - before;
    if (growthMb > MAX_GROWTH_MB) soak.problems.push(`the host needs ${growthMb.toFixed(1)} MB more than before`);
    if (soak.peakChildMb > MAX_CHILD_MB) soak.problems.push(`a child needed ${soak.peakChildMb.toFixed(0)} MB`);
    await opened[Symbol.asyncDispose]();
    const left = [...soak.pids].filter(isAlive);
    if (left.length > 0) soak.problems.push(`processes are left: ${left.join(", ")}`);
    return {
      holds: soak.problems.length === 0,
      problems: soak.problems,
      table: [
        {
          runs: soak.normal + soak.hostile,
          hostile: soak.hostile,
          wrong: soak.problems.length,
          children: soak.pids.size,
          left: left.length,
          peakChildMb: Math.round(soak.peakChildMb),
          growthMb: Math.round(growthMb * 10) / 10,
        },
      ],
    };
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

class Soak {
  readonly problems: string[] = [];
  readonly pids = new Set<number>();
  normal = 0;
  hostile = 0;
  peakChildMb = 0;
  #done = 0;
  readonly #sandbox: ProcessSandbox;
  readonly #random: Random;
  readonly #say: (line: string) => void;

  constructor(opened: ProcessSandbox, random: Random, say: (line: string) => void) {
    this.#sandbox = opened;
    this.#random = random;
    this.#say = say;
  }

  async run(count: number): Promise<void> {
    using memory = watchMemory(this.#sandbox);
    let left = count;
    const work = async (): Promise<void> => {
      while (left > 0 && this.problems.length < 10) {
        left -= 1;
        await this.#runOne();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    this.peakChildMb = Math.max(this.peakChildMb, memory.peakMb);
  }

  async #runOne(): Promise<void> {
    const isHostile = this.#random.between(1, 100) <= HOSTILE_PERCENT;
    const program = isHostile ? hostilePrograms[this.#random.between(0, hostilePrograms.length - 1)] : undefined;
    await (program === undefined ? this.#runNormal() : this.#runHostile(program));
    for (const pid of this.#sandbox.pids) this.pids.add(pid);
    this.#done += 1;
    if (this.#done % 1_000 === 0)
      this.#say(`${this.#done} runs, ${this.hostile} of them hostile, ${this.pids.size} children so far`);
  }

  async #runNormal(): Promise<void> {
    this.normal += 1;
    const number = this.#random.between(1, 1_000_000);
    const body = `const [a, b] = await Promise.all([mcp.t.x({ n: args.n }), mcp.t.x({ n: 1 })]);
      if (({}).polluted !== undefined || globalThis.__secret !== undefined) return "polluted"; return a.n + b.n`;
    const outcome = await runProgram(this.#sandbox, body, { args: { n: number } });
    if (outcome.kind === "returned" && outcome.value === number + 1) return;
    this.problems.push(`a run that should have returned ${number + 1}: ${JSON.stringify(outcome)}`);
  }

  async #runHostile(program: HostileProgram): Promise<void> {
    this.hostile += 1;
    const limits = limitsFor(program, LIMITS);
    const outcome = await runProgram(this.#sandbox, program.code, { limits });
    const problem = judge(program, outcome, "isolated-vm");
    if (problem !== undefined) this.problems.push(`${program.id} ${problem}`);
    if (outcome.stats.wallMs > limits.wallMs + 1_000)
      this.problems.push(`${program.id} took ${outcome.stats.wallMs} ms`);
  }
}

function readHeapMb(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
