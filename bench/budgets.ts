import { monitorEventLoopDelay } from "node:perf_hooks";
import { Targets } from "../test/support/attack.ts";
import { HOSTILE_KINDS, type HostileInput, type HostileKind, makeHostile } from "../test/support/hostile-inputs.ts";
import { Random } from "../test/support/random.ts";
import type { Benchmark, BenchSession } from "./support/benchmark.ts";
import { percentile } from "./support/statistics.ts";

const SEED = 20_261_118;
const LONGEST_HOLD_MS = 50;
/** Shorter than in production, so that inputs which take all of it do not make the run endless. */
const LIMITS = { maxMillis: 1_000, maxHeapMb: 256 };
/** Beyond its time a thread is noticed, ended and started again. */
const SLACK_MS = 2_000;

const INPUTS: Readonly<Record<HostileKind, number>> = {
  program: 4_000,
  result: 2_000,
  template: 4_000,
  message: 5_000,
  name: 2_500,
  schema: 2_500,
};

interface Tally {
  readonly holds: number[];
  slowest: { readonly ms: number; readonly what: string };
  limited: number;
  late: number;
}

/** Meets the parts of the daemon with hostile input and measures how long each input holds the serving thread. */
export const budgets: Benchmark = {
  title: "hostile input: how long it holds the serving thread",
  columns: [...HOSTILE_KINDS],
  async run(session) {
    const random = new Random(SEED);
    await using targets = new Targets(LIMITS);
    for (const kind of ["program", "result"] as const) await targets.meet(makeHostile(kind, random)); // starts the threads
    const delay = monitorEventLoopDelay({ resolution: 1 });
    for (const kind of HOSTILE_KINDS) {
      session.progress(`${INPUTS[kind]} inputs: ${kind}`);
      const tally: Tally = { holds: [], slowest: { ms: 0, what: "" }, limited: 0, late: 0 };
      delay.reset();
      delay.enable();
      for (let at = 0; at < INPUTS[kind]; at += 1) {
        session.signal.throwIfAborted();
        delay.disable(); // making an input takes longer than meeting it
        const input = makeHostile(kind, random);
        delay.enable();
        await measure(targets, input, tally);
      }
      delay.disable();
      report(session, kind, tally, delay.max / 1e6);
    }
    session.note(
      "CPU: the most time of the serving thread that one input takes between two turns of the event loop. A busy machine hardly changes it, unlike the longest delay of the event loop.",
    );
  },
};

async function measure(targets: Targets, input: HostileInput, tally: Tally): Promise<void> {
  const started = performance.now();
  const meter = new HoldMeter();
  const ending = await targets.meet(input);
  const ms = meter.end();
  tally.holds.push(ms);
  if (ms > tally.slowest.ms) tally.slowest = { ms, what: `${input.what}, ${ending.slice(0, 60)}` };
  if (ending.startsWith("limit")) tally.limited += 1;
  if (performance.now() - started > LIMITS.maxMillis + SLACK_MS) tally.late += 1;
}

/** Finds the most CPU time that this thread takes without coming back to its event loop. */
class HoldMeter {
  #last = process.threadCpuUsage();
  #longest = 0;
  readonly #timer = setInterval(() => this.#tick(), 1);

  end(): number {
    clearInterval(this.#timer);
    this.#tick();
    return this.#longest;
  }

  #tick(): void {
    const { user, system } = process.threadCpuUsage(this.#last);
    this.#longest = Math.max(this.#longest, (user + system) / 1000);
    this.#last = process.threadCpuUsage();
  }
}

function report(session: BenchSession, column: HostileKind, tally: Tally, delayMs: number): void {
  const { holds, slowest, limited, late } = tally;
  session.record({ row: "inputs", unit: "", column, value: holds.length });
  session.record({ row: "CPU p50", unit: "ms", column, value: percentile(holds, 0.5) });
  session.record({ row: "CPU p99", unit: "ms", column, value: percentile(holds, 0.99) });
  session.record({ row: "CPU max", unit: "ms", column, value: slowest.ms, goal: { atMost: LONGEST_HOLD_MS } });
  // An input that is met in the serving thread never lets the loop turn: its delay would tell nothing.
  if (delayMs > 0) {
    session.record({
      row: "event loop delay, max",
      unit: "ms",
      column,
      value: delayMs,
      goal: { atMost: LONGEST_HOLD_MS },
    });
  }
  session.record({ row: "stopped by a named limit", unit: "", column, value: limited });
  session.record({ row: "over time without an error", unit: "", column, value: late, goal: { atMost: 0 } });
  session.note(`Slowest ${column}: ${slowest.what}, ${slowest.ms.toFixed(1)} ms.`);
}
