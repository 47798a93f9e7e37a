import type { EngineStats, GoMessage, InnerLimits } from "../guest/protocol.ts";

/** Events an isolate reports to the run that uses it. */
export interface RunEvents {
  send(type: string, text: string): void;
  warn(text: string): void;
  limit(limit: keyof InnerLimits): void;
}

/** A fresh context for one program. */
export interface Isolate {
  /** Runs the program until it awaits an answer or has ended. */
  start(message: GoMessage, events: RunEvents): void;
  /** Delivers one answer and runs all microtasks, until the program awaits the next one. */
  settle(answer: string): void;
  stats(): EngineStats;
  dispose(): void;
}

export interface IsolateEngine {
  prepare(memoryMb: number): Promise<Isolate>;
}
