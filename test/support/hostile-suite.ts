import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EngineName } from "../../src/sandbox/engine-files.ts";
import type { ProcessSandbox } from "../../src/sandbox/sandbox.ts";
import { hostilePrograms, isClean, judge, limitsFor, watchMemory } from "./hostile.ts";
import { defaultLimits, isAlive, openSandbox, runProgram } from "./sandbox.ts";

const NARROW = { cpuMs: 200, wallMs: 300 };
/** Bounds a hang after the limit; a busy machine may end a run late. */
const LATE_MS = 15_000;
/** Memory that a program may allocate between two measurements. */
const STEP_MB = 256;

/** Runs hostile programs on one engine; each engine has its own file, so that they run in parallel. */
export function describeHostilePrograms(engine: EngineName, programs = hostilePrograms): void {
  describe(`hostile programs on ${engine}`, () => {
    let sandbox: ProcessSandbox;
    let memory: ReturnType<typeof watchMemory>;
    const hostPid = process.pid;
    const heapBefore = process.memoryUsage().heapUsed;
    const pids = new Set<number>();

    beforeAll(() => {
      sandbox = openSandbox({ engine, idleChildren: 2 });
      memory = watchMemory(sandbox);
    });

    afterAll(async () => {
      memory[Symbol.dispose]();
      await sandbox[Symbol.asyncDispose]();
      expect([...pids].filter(isAlive), "no child is left").toEqual([]);
    });

    it.each(programs.map((program) => [program.id, program] as const))("%s", async (_id, program) => {
      const limits = limitsFor(program, NARROW);
      const outcome = await runProgram(sandbox, program.code, { limits });
      for (const pid of sandbox.pids) pids.add(pid);
      expect(judge(program, outcome, engine)).toBeUndefined();
      expect(outcome.stats.wallMs).toBeLessThan(limits.wallMs + LATE_MS);
      expect(await isClean(sandbox), "the next run is as if nothing had happened").toBe(true);
    });

    it("leave the host unchanged", () => {
      expect(process.pid).toBe(hostPid);
      expect((process.memoryUsage().heapUsed - heapBefore) / 2 ** 20).toBeLessThan(100);
      expect(memory.peakMb).toBeGreaterThan(0);
      expect(memory.peakMb).toBeLessThan(defaultLimits.maxRssMb + STEP_MB);
    });
  });
}
