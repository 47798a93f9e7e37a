import type { RunLimits } from "../../execution/worker-bridge.ts";

/** Limits that guest and child enforce first; the gateway checks each of them again. */
export type InnerLimits = Pick<
  RunLimits,
  | "memoryMb"
  | "cpuMs"
  | "maxCalls"
  | "maxDecisions"
  | "maxArgumentBytes"
  | "maxResultBytes"
  | "maxLogLines"
  | "maxLogBytes"
>;

export interface GuestSetup {
  readonly seed: number;
  readonly startedAt: number;
  readonly limits: InnerLimits;
}

export interface GoMessage {
  readonly code: string;
  readonly fileName: string;
  /** JSON that only the guest parses. */
  readonly args: string;
  readonly setup: GuestSetup;
}

/** The value a call resolves to, or the error it throws. */
export type AnswerMessage =
  | readonly [id: number, clock: number, ok: true, value: unknown]
  | readonly [id: number, clock: number, ok: false, error: AnswerError];

export interface AnswerError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly data?: unknown;
}

export interface EngineStats {
  readonly cpuMs: number;
  readonly heapBytes: number;
}
