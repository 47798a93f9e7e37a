import { statfsSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from "node:os";

/** What one must know of a machine to judge figures that were measured on it. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cpuCount: number;
  readonly memoryGb: number;
  /** Whether temporary files are in memory: then no commit reaches a disk, and commits look too fast. */
  readonly temporaryFilesInMemory: boolean;
}

const TMPFS = 0x01021994;

export function describeMachine(): Machine {
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cpuCount: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    temporaryFilesInMemory: statfsSync(tmpdir()).type === TMPFS,
  };
}

/** How many processes wanted a CPU in the last minute: more than there are, and times are too long. */
export function readLoad(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}
