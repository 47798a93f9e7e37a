import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { type PersonAddress, readPersonAddress } from "../../src/daemon/daemon-file.ts";
import { spawnPml } from "../../test/support/pml.ts";

/** `pml serve` as a separate process. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number;
  readonly address: PersonAddress;
  /** Time from its start until /readyz answered 200. */
  readonly startMs: number;
  /** CPU time of that, independent of other processes. */
  readonly startCpuMs: number | undefined;
}

const START_LIMIT_MS = 60_000;
/** Kills a daemon that has not ended by then. */
export const STOP_LIMIT_MS = 5_000;
const POLL_MS = 4;

export async function startDaemon(home: string, databaseUrl?: string): Promise<Daemon> {
  mkdirSync(home, { recursive: true });
  const env = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl };
  const started = performance.now();
  const child = spawnPml(["serve"], { home, env });
  const exited = once(child, "exit");
  let said = "";
  child.stdout?.resume();
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const impatient = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
    await exited;
    clearTimeout(impatient);
  };
  while (performance.now() - started < START_LIMIT_MS && child.exitCode === null) {
    const address = readPersonAddress(home);
    if (address !== undefined && (await isReady(address))) {
      const startMs = performance.now() - started;
      const { pid } = address;
      return { pid, address, startMs, startCpuMs: readCpuMs(pid), [Symbol.asyncDispose]: stop };
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  await stop();
  throw new Error(`pml serve did not get ready: ${said}`);
}

/** Avoids fetch: its first use in a process would show in the start time. */
function isReady({ url }: PersonAddress): Promise<boolean> {
  return new Promise((resolve) => {
    get(new URL("/readyz", url), { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).once("error", () => resolve(false)); // not listening yet
  });
}

const TICKS_PER_SECOND = 100;

/** Returns user and system time of all threads; undefined on a system without /proc. */
export function readCpuMs(pid: number): number | undefined {
  try {
    // The second field is the program's name in brackets and may contain spaces; the times are 14th and 15th.
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    const [user = 0, system = 0] = rest.split(" ").slice(11, 13).map(Number);
    return ((user + system) * 1000) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

export interface ProcessMemory {
  readonly rssMb: number;
  readonly peakMb: number;
}

/** Returns undefined on a system without /proc. */
export function readMemory(pid: number): ProcessMemory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const read = (name: string): number => (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6;
    return { rssMb: read("VmRSS"), peakMb: read("VmHWM") };
  } catch {
    return undefined;
  }
}
