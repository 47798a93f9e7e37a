import type { RunLimits } from "../execution/worker-bridge.ts";

export type LimitName = keyof RunLimits;

const SENTENCES: Readonly<Record<LimitName, (limit: string, found: string) => string>> = {
  wallMs: (limit) => `The program took longer than ${limit} ms`,
  cpuMs: (limit) => `The program computed for longer than ${limit} ms`,
  memoryMb: (limit) => `The program's values needed more than ${limit} MB`,
  maxRssMb: (limit) => `The process that ran the program needed more than ${limit} MB`,
  maxCalls: (limit) => `The program made more than ${limit} calls`,
  maxParallelCalls: (limit) => `The program had more than ${limit} calls under way at once`,
  maxArgumentBytes: (limit) => `The arguments of a call had more than ${limit} bytes`,
  maxToolResultBytes: (limit, found) => `What the call gave back has ${found}more than ${limit} bytes`,
  maxResultBytes: (limit, found) => `What the program returned has ${found}more than ${limit} bytes`,
  maxLogLines: (limit) => `The program wrote more than ${limit} lines to the console; the rest was dropped`,
  maxLogBytes: (limit) => `The program wrote more than ${limit} bytes to the console; the rest was dropped`,
  maxCodeBytes: (limit, found) => `The program has ${found}more than ${limit} bytes`,
  maxDecisions: (limit) => `The program made more than ${limit} decisions`,
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
