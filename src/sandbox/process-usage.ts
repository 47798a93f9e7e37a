import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

/** Memory and CPU time that a process uses. */
export interface ProcessUsage {
  readonly rssMb: number;
  readonly cpuMs: number;
}

/** Measures processes from outside: a child's own figures are not trusted. */
export interface UsageReader {
  /** Sensible interval between reads. */
  readonly everyMs: number;
  read(pids: readonly number[]): Promise<ReadonlyMap<number, ProcessUsage>>;
}

/**
 * Returns the reader for this system. Windows has none that is cheap enough; there the engine's own limits must
 * suffice.
 */
export function createUsageReader(platform: NodeJS.Platform = process.platform): UsageReader | undefined {
  if (platform === "linux") return { everyMs: 50, read: async (pids) => readProc(pids) };
  if (platform === "win32") return undefined;
  return { everyMs: 250, read: readPs };
}

/** Linux counts in pages of 4 KB on all machines with a prebuilt engine, and in hundredths of a second. */
const PAGE_BYTES = 4096;
const TICK_MS = 10;
const MB = 1024 * 1024;

function readProc(pids: readonly number[]): Map<number, ProcessUsage> {
  const found = new Map<number, ProcessUsage>();
  for (const pid of pids) {
    const usage = findProcUsage(pid);
    if (usage !== undefined) found.set(pid, usage);
  }
  return found;
}

export function findProcUsage(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Counts fields from behind the name, which stands in parentheses and may contain anything.
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [userTicks = 0, systemTicks = 0] = [fields[11], fields[12]];
    return { rssMb: ((fields[21] ?? 0) * PAGE_BYTES) / MB, cpuMs: (userTicks + systemTicks) * TICK_MS };
  } catch {
    return undefined; // the process has ended
  }
}

async function readPs(pids: readonly number[]): Promise<Map<number, ProcessUsage>> {
  const found = new Map<number, ProcessUsage>();
  if (pids.length === 0) return found;
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "pid=,rss=,time=", "-p", pids.join(",")]);
    for (const line of stdout.trim().split("\n")) {
      const [pid, rss, time] = line.trim().split(/\s+/);
      found.set(Number(pid), { rssMb: Number(rss) / 1024, cpuMs: parsePsTime(time ?? "") });
    }
  } catch {
    // all processes have ended
  }
  return found;
}

/** Parses `1-02:03:04`, `02:03:04` or `3:04.56`. */
export function parsePsTime(text: string): number {
  const [days = "0", rest] = text.includes("-") ? text.split("-") : ["0", text];
  const seconds = (rest ?? "").split(":").reduce((total, part) => total * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

/** Returns the process at the end of a chain of wrappers, each of which has one child. */
export function findInnermost(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ");
    return children[0] === "" || children[0] === undefined ? pid : findInnermost(Number(children[0]));
  } catch {
    return pid;
  }
}
