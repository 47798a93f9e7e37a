import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../base/log.ts";

/** The process group of a server: its leader's pid, and when that was started. */
interface Group {
  readonly pid: number;
  /** In ticks since boot; together with the pid it names a process for good. */
  readonly startTicks: number;
}

/** How long what is left over may take to end by itself, and after SIGTERM. */
const GRACE_MS = 500;
const TERM_MS = 1_000;

/**
 * The process groups of running servers, on file. A daemon that is killed cannot end what its servers
 * started, so the next one does.
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

  /** Takes over what the last owner of this directory left behind, and ends it without anyone waiting. */
  endOrphans(): void {
    for (const group of readGroups(this.#path)) this.#groups.set(group.pid, group);
    this.#ending = Promise.all([...this.#groups.values()].map((group) => this.#end(group))).then(() => undefined);
  }

  add(pid: number): void {
    const leader = readProcess(pid);
    if (leader === undefined) return; // it is gone already, or this system has no /proc
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

  /** Not worth failing for: without the file, only a killed daemon's leftovers would stay. */
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
    // the group is gone already, which is what was wanted
  }
}

function readGroups(path: string): readonly Group[] {
  try {
    const { boot, groups } = JSON.parse(readFileSync(path, "utf8")) as { boot: string; groups: Group[] };
    return boot === bootId() ? groups : [];
  } catch {
    return []; // nothing was ever noted here, or there is no /proc to compare it with
  }
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

/**
 * A number is not given to another process while a group of that number exists. So a leader that was
 * started at another time, or a member that is older than the leader was, means that the group ended
 * and its number was used again; that one is none of ours.
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

/** Zombies have ended; whoever should read their exit status just has not. */
const ENDED: ReadonlySet<string> = new Set(["Z", "X"]);
const START_TICKS_FIELD = 19;

function readProcess(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      state: fields[0] ?? "",
      group: Number(fields[2]),
      session: Number(fields[3]),
      startTicks: Number(fields[START_TICKS_FIELD]),
    };
  } catch {
    return undefined; // it has ended, or this system has no /proc
  }
}
