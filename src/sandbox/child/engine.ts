import type { EngineStats, GoMessage, InnerLimits } from "../guest/protocol.ts";

/** What an isolate tells the run that uses it. */
export interface RunEvents {
  send(type: string, text: string): void;
  warn(text: string): void;
  limit(limit: keyof InnerLimits): void;
}

/** A fresh world for one program. */
export interface Isolate {
  /** Runs the program until it waits or has ended. */
  start(message: GoMessage, events: RunEvents): void;
  /** Hands over one answer and runs until the program waits again: microtasks run to the end. */
  settle(answer: string): void;
  stats(): EngineStats;
  dispose(): void;
}

export interface Engine {
  prepare(memoryMb: number): Promise<Isolate>;
}
