import { z } from "zod";

const count = z.number().int().positive();
const KB = 1024;
const MB = 1024 * KB;

/** Limits have the names of `RunLimits`; the error of a run that reaches one names the key to change. */
export const sandboxSchema = z.strictObject({
  engine: z
    .enum(["auto", "isolated-vm", "quickjs"])
    .default("auto")
    .describe("Engine that runs programs: isolated-vm (V8) where it has a build for this machine, otherwise QuickJS."),
  launcher: z
    .enum(["auto", "plain", "bubblewrap"])
    .default("auto")
    .describe(
      "How the processes that run programs are started: inside bubblewrap where that works, otherwise plainly.",
    ),
  jit: z
    .boolean()
    .default(false)
    .describe("Let V8 compile programs to machine code: faster loops, a larger surface to attack."),
  idleChildren: z.number().int().nonnegative().default(2).describe("Idle processes that wait for the next program."),
  maxChildren: count
    .default(8)
    .describe("Concurrent programs; further ones are queued. Nested runs are counted separately."),
  wallMs: count
    .default(30_000)
    .describe("Wall-clock limit of a run, including the calls and capabilities it awaits; a request may lower it."),
  cpuMs: count.default(5_000).describe("CPU time limit of a program."),
  memoryMb: count.min(8).default(64).describe("Memory for a program's values."),
  maxRssMb: count.min(128).default(512).describe("Memory limit of the process that runs it; it is killed above."),
  maxCalls: count
    .default(1_000)
    .describe("Calls of tools and capabilities, and sleeps, in a run and the capabilities it calls."),
  maxParallelCalls: count.default(64).describe("Concurrent calls; further ones are queued."),
  maxArgumentBytes: count
    .max(4 * MB)
    .default(MB)
    .describe("Size of the arguments of a call."),
  maxToolResultBytes: count
    .max(16 * MB)
    .default(4 * MB)
    .describe("Size of the result of a call."),
  maxResultBytes: count
    .max(8 * MB)
    .default(MB)
    .describe("Size of the return value of a program."),
  maxLogLines: count.default(1_000).describe("Lines a program may write to the console; the rest is dropped."),
  maxLogBytes: count
    .max(4 * MB)
    .default(64 * KB)
    .describe("Size of all console output."),
  maxCodeBytes: count
    .max(8 * MB)
    .default(256 * KB)
    .describe("Size of a program."),
  maxDecisions: count.default(100_000).describe("Decisions (branches taken) recorded in a run."),
  maxJournalBytes: count
    .max(256 * MB)
    .default(32 * MB)
    .describe("Size of all arguments and results of calls in a run and the capabilities it calls."),
  maxDepth: z.number().int().nonnegative().default(8).describe("How deep capabilities may call capabilities."),
});
