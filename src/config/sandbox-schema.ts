import { z } from "zod";

const count = z.number().int().positive();
const KB = 1024;
const MB = 1024 * KB;

/** The limits have the names of `RunLimits`; a run that reaches one is told which key to change. */
export const sandboxSchema = z.strictObject({
  engine: z
    .enum(["auto", "isolated-vm", "quickjs"])
    .default("auto")
    .describe("What runs programs: isolated-vm (V8) where it has a build for this machine, otherwise QuickJS."),
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
  idleChildren: z.number().int().nonnegative().default(2).describe("Processes kept ready for the next program."),
  maxChildren: count.default(8).describe("Programs that run at once; further ones wait. Nested runs count apart."),
  wallMs: count.default(30_000).describe("How long a program may take, with everything it waits for."),
  cpuMs: count.default(5_000).describe("How long a program may compute."),
  memoryMb: count.min(8).default(64).describe("Memory for a program's values."),
  maxRssMb: count.min(128).default(512).describe("Memory of the process that runs it; it is ended above."),
  maxCalls: count.default(1_000).describe("Calls of tools and capabilities, and sleeps, in a run."),
  maxParallelCalls: count.default(64).describe("Calls under way at once; further ones wait for their turn."),
  maxArgumentBytes: count
    .max(4 * MB)
    .default(MB)
    .describe("Size of the arguments of a call."),
  maxToolResultBytes: count
    .max(16 * MB)
    .default(4 * MB)
    .describe("Size of what a call gives back to the program."),
  maxResultBytes: count
    .max(8 * MB)
    .default(MB)
    .describe("Size of what a program returns."),
  maxLogLines: count.default(1_000).describe("Lines a program may write to the console; the rest is dropped."),
  maxLogBytes: count
    .max(4 * MB)
    .default(64 * KB)
    .describe("Size of all of them."),
  maxCodeBytes: count
    .max(8 * MB)
    .default(256 * KB)
    .describe("Size of a program."),
  maxDecisions: count.default(100_000).describe("Decisions (branches taken) recorded in a run."),
  maxDepth: z.number().int().nonnegative().default(8).describe("How deep capabilities may call capabilities."),
});
