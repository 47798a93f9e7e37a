import type { RunLimits } from "../execution/worker-bridge.ts";

export type LimitName = keyof RunLimits;

const SENTENCES: Readonly<Record<LimitName, (limit: string, found: string) => string>> = {
  wallMs: (limit) => `The program took longer than ${limit} ms`,
  cpuMs: (limit) => `The program used more than ${limit} ms of CPU time`,
  memoryMb: (limit) => `The program's values needed more than ${limit} MB`,
  maxRssMb: (limit) => `The process that ran the program needed more than ${limit} MB`,
  maxCalls: (limit) => `The program made more than ${limit} calls`,
  maxParallelCalls: (limit) => `The program made more than ${limit} concurrent calls`,
  maxArgumentBytes: (limit) => `The arguments of a call had more than ${limit} bytes`,
  maxToolResultBytes: (limit, found) => `The result of the call has ${found}more than ${limit} bytes`,
  maxResultBytes: (limit, found) => `The return value of the program has ${found}more than ${limit} bytes`,
  maxLogLines: (limit) => `The program wrote more than ${limit} lines to the console; the rest was dropped`,
  maxLogBytes: (limit) => `The program wrote more than ${limit} bytes to the console; the rest was dropped`,
  maxCodeBytes: (limit, found) => `The program has ${found}more than ${limit} bytes`,
  maxDecisions: (limit) => `The program made more than ${limit} decisions`,
  maxJournalBytes: (limit) => `The arguments and results of the run had more than ${limit} bytes`,
  maxDepth: (limit) => `Runs are nested more than ${limit} deep`,
};

/** Describes the exceeded limit and the key of the configuration that changes it. */
export function describeLimit(limit: LimitName, limits: RunLimits, found?: number): string {
  const sentence = SENTENCES[limit](
    limits[limit].toLocaleString("en-US"),
    found === undefined ? "" : `${found.toLocaleString("en-US")} bytes, `,
  );
  return `${sentence} (sandbox.${limit})`;
}
