import type { JsonValue } from "../base/json.ts";

/** Every limit has a configuration key of the same name under `sandbox`, which its error names. */
export interface RunLimits {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Of the isolate's heap. */
  readonly memoryMb: number;
  /** Of the whole child process. */
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
  /** How deep runs may be nested. */
  readonly maxDepth: number;
}

export interface SandboxProgram {
  /** An expression that evaluates to `async (args, __pml) => …`. */
  readonly code: string;
  readonly fileName: string;
  readonly args: JsonValue;
  /** For Math.random and crypto.randomUUID: equal seeds, equal runs. */
  readonly seed: number;
  /** What `Date.now()` says at first, in milliseconds; it moves on with the answers to calls. */
  readonly startedAt: number;
  readonly limits: RunLimits;
  /** Depth of nesting; 0 is a program an agent submitted. Nested runs never wait for a place their ancestors hold. */
  readonly depth: number;
}

/** Where in the structure the guest says it is. A hint: the guest can forge it. */
export interface CallSite {
  readonly node: string | undefined;
  /** Iterations of the loops around it, outermost first: `l1:0/l2:3`; empty outside of loops. */
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

/** What a call gives back to the guest; `clock` is what `Date.now()` says from then on. */
export type CallAnswer = { readonly clock: number } & CallOutcome;

export interface GuestError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly data?: JsonValue;
}

/** The side of the host: everything a running program can reach. */
export interface RunHost {
  /** Never rejects; answers reach the guest one at a time, in the order in which these promises settle. */
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
  /** Position in the code that ran, where the engine told one. */
  | {
      readonly kind: "threw";
      readonly error: GuestError;
      readonly at?: { readonly line: number; readonly column: number };
    }
  | { readonly kind: "limit"; readonly limit: keyof RunLimits; readonly message: string }
  /** The signal was aborted; its reason says why. */
  | { readonly kind: "aborted"; readonly reason: unknown }
  /** The child died by itself or broke the protocol. */
  | { readonly kind: "crashed"; readonly message: string }
);

/** The port to whatever runs programs. */
export interface Sandbox extends AsyncDisposable {
  run(program: SandboxProgram, host: RunHost, signal: AbortSignal): Promise<RunOutcome>;
}
