import { statfsSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from "node:os";

/** The facts about a machine that are needed to judge its figures. */
export interface BenchMachine {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cpuCount: number;
  readonly memoryGb: number;
  /** True if temporary files are in memory: commits then reach no disk and look too fast. */
  readonly temporaryFilesInMemory: boolean;
}

const TMPFS = 0x01021994;

export function describeMachine(): BenchMachine {
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cpuCount: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    temporaryFilesInMemory: statfsSync(tmpdir()).type === TMPFS,
  };
}

/** Returns the load average of the last minute; above the number of CPUs, times are too long. */
export function readLoad(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}
