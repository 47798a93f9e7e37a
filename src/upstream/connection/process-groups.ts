import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../base/log.ts";

/** The process group of a server: pid and start time of its leader. */
interface Group {
  readonly pid: number;
  /** In ticks since boot; with the pid it identifies a process for good. */
  readonly startTicks: number;
}

/** Grace period for leftover groups, before and after SIGTERM. */
const GRACE_MS = 500;
const TERM_MS = 1_000;

/**
 * Records the process groups of running servers in a file. A killed daemon cannot end what its servers started, so the next
 * daemon does.
 */
export class ProcessGroups implements AsyncDisposable {
  readonly #path: string;
  readonly #log: Logger;
  readonly #groups = new Map<number, Group>();
  #ending: Promise<void> = Promise.resolve();

  constructor(home: string, log: Logger) {
    this.#path = join(home, "server-processes.json");
    this.#log = log;
  }

  /** Ends the groups that the last owner of this directory left, in the background. */
  endOrphans(): void {
    for (const group of readGroups(this.#path)) this.#groups.set(group.pid, group);
    this.#ending = Promise.all([...this.#groups.values()].map((group) => this.#end(group))).then(() => undefined);
  }

  add(pid: number): void {
    const leader = readProcess(pid);
    if (leader === undefined) return; // it has exited, or this system has no /proc
    this.#groups.set(pid, { pid, startTicks: leader.startTicks });
    this.#write();
  }

  remove(pid: number): void {
    if (this.#groups.delete(pid)) this.#write();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ending;
  }

  async #end(group: Group): Promise<void> {
    const steps = [
      { waitMs: GRACE_MS, signal: "SIGTERM" },
      { waitMs: TERM_MS, signal: "SIGKILL" },
    ] as const;
    for (const { waitMs, signal } of steps) {
      if (!isLeftOver(group)) break;
      await sleep(waitMs);
      if (!isLeftOver(group)) break;
      this.#log.warn({ group: group.pid, signal }, "ending what a server of the last daemon left behind");
      signalGroup(group.pid, signal);
    }
    this.remove(group.pid);
  }

  /** Ignores failures: without the file only leftovers of a killed daemon stay. */
  #write(): void {
    try {
      const partial = `${this.#path}.${process.pid}`;
      const content = { boot: bootId(), groups: [...this.#groups.values()] };
      writeFileSync(partial, JSON.stringify(content), { mode: 0o600 });
      renameSync(partial, this.#path);
    } catch (error) {
      this.#log.warn({ error: String(error) }, "the servers' processes could not be noted");
    }
  }
}

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // the group has ended already
  }
}

function readGroups(path: string): readonly Group[] {
  try {
    const { boot, groups } = JSON.parse(readFileSync(path, "utf8")) as { boot: string; groups: Group[] };
    return boot === bootId() ? groups : [];
  } catch {
    return []; // no file yet, or no /proc to compare it with
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

/**
 * True if a recorded group still exists. The system does not reuse a number while a group of that number exists. A leader with
 * another start time, or a member older than the leader, means that the number was reused for a foreign group.
 */
function isLeftOver({ pid, startTicks }: Group): boolean {
  const leader = readProcess(pid);
  if (leader !== undefined && leader.startTicks !== startTicks) return false;
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => readProcess(Number(entry)))
    .some(
      (each) => each?.group === pid && each.session === pid && each.startTicks >= startTicks && !ENDED.has(each.state),
    );
}

interface ProcessState {
  readonly state: string;
  readonly group: number;
  readonly session: number;
  readonly startTicks: number;
}

/** Zombies have ended; their parent has not read the exit status yet. */
const ENDED: ReadonlySet<string> = new Set(["Z", "X"]);
const START_TICKS_FIELD = 19;

function readProcess(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it, in parentheses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      state: fields[0] ?? "",
      group: Number(fields[2]),
      session: Number(fields[3]),
      startTicks: Number(fields[START_TICKS_FIELD]),
    };
  } catch {
    return undefined; // it has exited, or this system has no /proc
  }
}
