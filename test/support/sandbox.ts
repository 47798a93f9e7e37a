/** Sandboxes for tests, and a host that answers as the hostile programs expect. */
import type {
  CallAnswer,
  GuestCall,
  RunHost,
  RunLimits,
  RunOutcome,
  SandboxProgram,
} from "../../src/execution/worker-bridge.ts";
import { createLogger } from "../../src/base/log.ts";
import { createSandbox, type ProcessSandbox, type SandboxOptions } from "../../src/sandbox/sandbox.ts";

export const STARTED_AT = Date.UTC(2026, 0, 2, 3, 4, 5);

export const defaultLimits: RunLimits = {
  wallMs: 10_000,
  cpuMs: 5_000,
  memoryMb: 64,
  maxRssMb: 512,
  maxCalls: 1_000,
  maxParallelCalls: 64,
  maxArgumentBytes: 1024 * 1024,
  maxToolResultBytes: 4 * 1024 * 1024,
  maxResultBytes: 1024 * 1024,
  maxLogLines: 1_000,
  maxLogBytes: 64 * 1024,
  maxCodeBytes: 256 * 1024,
  maxDecisions: 100_000,
  maxJournalBytes: 32 * 1024 * 1024,
  maxDepth: 8,
};

const quiet = createLogger({ level: "silent", file: undefined, secrets: [] });

export function openSandbox(options: Partial<SandboxOptions> = {}, log = quiet): ProcessSandbox {
  const defaults: SandboxOptions = {
    engine: "isolated-vm",
    launcher: "plain",
    jit: false,
    idleChildren: 1,
    maxChildren: 8,
    memoryMb: defaultLimits.memoryMb,
  };
  return createSandbox({ ...defaults, ...options }, log);
}

/** Builds a program from statements. */
export function programOf(body: string, changes: Partial<SandboxProgram> = {}): SandboxProgram {
  return {
    code: `async (args, __pml) => {\n${body}\n}`,
    fileName: "program.ts",
    args: {},
    seed: 1,
    startedAt: STARTED_AT,
    limits: defaultLimits,
    depth: 0,
    ...changes,
  };
}

export interface RecordingHost extends RunHost {
  readonly calls: GuestCall[];
  readonly decisions: string[];
  readonly lines: string[];
}

/**
 * `mcp.t.x` echoes, `mcp.t.fail` fails, `mcp.t.never` never answers; each answer advances the clock by a millisecond.
 */
export function recordingHost(answer: (call: GuestCall) => Promise<CallAnswer> = answerLikeTools): RecordingHost {
  const calls: GuestCall[] = [];
  const decisions: string[] = [];
  const lines: string[] = [];
  return {
    calls,
    decisions,
    lines,
    call(call) {
      calls.push(call);
      return answer(call);
    },
    decided: ({ node, loop }, outcome) => void decisions.push(`${node} ${loop} ${outcome}`),
    logged: (level, text) => void lines.push(`${level}: ${text}`),
  };
}

export async function answerLikeTools(call: GuestCall): Promise<CallAnswer> {
  const clock = STARTED_AT + call.id;
  if (call.kind === "sleep") {
    // Programs that sleep for ages are ended by their limit; the timer must not keep this process.
    await new Promise((resolve) => setTimeout(resolve, call.ms).unref());
    return { clock, ok: true, value: null };
  }
  const name = call.kind === "tool" ? call.tool : call.name;
  if (name === "never") return new Promise(() => undefined);
  if (name === "x") return { clock, ok: true, value: call.args };
  const error = { name: "ToolError", message: `${name} failed`, code: "tool_failed", data: { tool: name } };
  return { clock, ok: false, error };
}

export async function runProgram(
  sandbox: ProcessSandbox,
  body: string,
  changes: Partial<SandboxProgram> & { readonly host?: RunHost; readonly signal?: AbortSignal } = {},
): Promise<RunOutcome> {
  const { host = recordingHost(), signal = new AbortController().signal, ...program } = changes;
  return await sandbox.run(programOf(body, program), host, signal);
}

/** True if a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
