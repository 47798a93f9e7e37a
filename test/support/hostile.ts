/** Runs hostile programs and checks the invariants that must hold whatever they do. */
import given from "../hostile/given.json" with { type: "json" };
import own from "../hostile/own.json" with { type: "json" };
import type { RunLimits, RunOutcome } from "../../src/execution/worker-bridge.ts";
import type { EngineName } from "../../src/sandbox/engine-files.ts";
import { findProcUsage } from "../../src/sandbox/process-usage.ts";
import type { ProcessSandbox } from "../../src/sandbox/sandbox.ts";
import { defaultLimits, runProgram } from "./sandbox.ts";

/** Ways a program may end; each limit belongs to one of them. */
type EndClass = "returned" | "threw" | "time" | "memory" | "calls" | "decisions" | "size" | "crashed" | "aborted";

export interface HostileProgram {
  readonly id: string;
  readonly code: string;
  readonly ends: readonly EndClass[];
  /** The expected return value, if it returns. */
  readonly returns?: string;
  /** Different ends that are allowed on QuickJS. */
  readonly quickjs?: readonly EndClass[];
}

export const hostilePrograms = [...given, ...own] as readonly HostileProgram[];

const CLASS_OF_LIMIT: Readonly<Partial<Record<keyof RunLimits, EndClass>>> = {
  wallMs: "time",
  cpuMs: "time",
  memoryMb: "memory",
  maxRssMb: "memory",
  maxCalls: "calls",
  maxDecisions: "decisions",
  maxResultBytes: "size",
};

function classOf(outcome: RunOutcome): EndClass {
  return outcome.kind === "limit" ? (CLASS_OF_LIMIT[outcome.limit] ?? "size") : outcome.kind;
}

/** Returns narrow limits for programs that may reach them, so that the suite is quick; ample ones for the others. */
export function limitsFor({ ends }: HostileProgram, narrow: Pick<RunLimits, "cpuMs" | "wallMs">): RunLimits {
  const limits = { ...defaultLimits, maxCalls: 500, maxDecisions: 10_000 };
  return ends.includes("time") ? { ...limits, ...narrow } : limits;
}

/** Returns the problem with how a program ended, if any. */
export function judge(program: HostileProgram, outcome: RunOutcome, engine: EngineName): string | undefined {
  const found = classOf(outcome);
  const allowed = engine === "quickjs" ? (program.quickjs ?? program.ends) : program.ends;
  if (!allowed.includes(found)) return `ended with ${JSON.stringify(outcome)}, not with ${allowed.join(" or ")}`;
  if (outcome.kind === "limit" && !outcome.message.includes(`sandbox.${outcome.limit}`)) return outcome.message;
  if (outcome.kind !== "returned" || program.returns === undefined) return undefined;
  return outcome.value === program.returns ? undefined : `returned ${JSON.stringify(outcome.value)}`;
}

const CHECK = `return [
  ({}).polluted === undefined, [].polluted === undefined, globalThis.__secret === undefined,
  typeof Map.prototype.get, JSON.stringify({ a: 1 }), (await mcp.t.x({ n: 42 })).n,
]`;
const CLEAN = JSON.stringify([true, true, true, "function", '{"a":1}', 42]);

/** True if the sandbox runs the next program as if nothing had happened. */
export async function isClean(sandbox: ProcessSandbox): Promise<boolean> {
  const outcome = await runProgram(sandbox, CHECK);
  return outcome.kind === "returned" && JSON.stringify(outcome.value) === CLEAN;
}

/** Measures the peak memory of the sandbox's children. */
export function watchMemory(sandbox: ProcessSandbox): Disposable & { readonly peakMb: number } {
  let peakMb = 0;
  const timer = setInterval(() => {
    for (const pid of sandbox.pids) peakMb = Math.max(peakMb, findProcUsage(pid)?.rssMb ?? 0);
  }, 10);
  return {
    get peakMb() {
      return peakMb;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
