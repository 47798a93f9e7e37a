import type { JsonValue } from "../base/json.ts";

/** Each limit has a configuration key of the same name under `sandbox`, which its error names. */
export interface RunLimits {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Heap of the isolate. */
  readonly memoryMb: number;
  /** Resident memory of the child process. */
  readonly maxRssMb: number;
  readonly maxCalls: number;
  readonly maxParallelCalls: number;
  readonly maxArgumentBytes: number;
  readonly maxToolResultBytes: number;
  readonly maxResultBytes: number;
  readonly maxLogLines: number;
  readonly maxLogBytes: number;
  readonly maxCodeBytes: number;
  readonly maxDecisions: number;
  /** Journals of a run and everything nested in it. */
  readonly maxJournalBytes: number;
  /** Maximum nesting of runs. */
  readonly maxDepth: number;
}

export interface SandboxProgram {
  /** An expression that evaluates to `async (args, __pml) => …`. */
  readonly code: string;
  readonly fileName: string;
  readonly args: JsonValue;
  /** Seeds Math.random and crypto.randomUUID: equal seeds give equal runs. */
  readonly seed: number;
  /** Initial `Date.now()` in milliseconds; it advances with the answers to calls. */
  readonly startedAt: number;
  readonly limits: RunLimits;
  /** Nesting depth; 0 for a program that an agent submitted. Nested runs never wait for a slot their ancestors hold. */
  readonly depth: number;
}

/** Call site as the guest reports it. A hint: the guest can forge it. */
export interface CallSite {
  readonly node: string | undefined;
  /** Iterations of the surrounding loops, outermost first: `l1:0/l2:3`; empty outside of loops. */
  readonly loop: string;
}

export type GuestCall = CallSite & { readonly id: number; readonly args: JsonValue } & (
    | { readonly kind: "tool"; readonly server: string; readonly tool: string }
    /** `fs:read_json` or `my_reader`. */
    | { readonly kind: "capability"; readonly name: string }
    | { readonly kind: "sleep"; readonly ms: number }
  );

/** The value that a call gives a program, or the error it throws there. */
export type CallOutcome =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: GuestError };

/** Answer to a guest's call; `clock` sets its `Date.now()`. */
export type CallAnswer = { readonly clock: number } & CallOutcome;

export interface GuestError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly data?: JsonValue;
}

/** Host side: everything a running program can reach. */
export interface RunHost {
  /** Never rejects. Answers reach the guest one at a time, in the order in which these promises settle. */
  call(call: GuestCall): Promise<CallAnswer>;
  decided(site: CallSite, outcome: string): void;
  logged(level: string, text: string): void;
}

interface RunStats {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly calls: number;
}

export type RunOutcome = { readonly stats: RunStats; readonly warnings: readonly string[] } & (
  | { readonly kind: "returned"; readonly value: JsonValue }
  /** Position in the instrumented code, if the engine reported one. */
  | {
      readonly kind: "threw";
      readonly error: GuestError;
      readonly at?: { readonly line: number; readonly column: number };
    }
  | { readonly kind: "limit"; readonly limit: keyof RunLimits; readonly message: string }
  /** The signal was aborted, with this reason. */
  | { readonly kind: "aborted"; readonly reason: unknown }
  /** The child process died or broke the protocol. */
  | { readonly kind: "crashed"; readonly message: string }
);

/** Port to the sandbox that runs programs. */
export interface Sandbox extends AsyncDisposable {
  run(program: SandboxProgram, host: RunHost, signal: AbortSignal): Promise<RunOutcome>;
}
