import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../config/environment.ts";
import { ensureHome } from "../db/owner-lock.ts";
import { type ErrorReport, fromErrorReport, PmlError } from "../base/errors.ts";
import { tryFileLock } from "../base/file-lock.ts";
import { packageRoot } from "../base/package-info.ts";
import { secureHome } from "./secure-home.ts";
import { type DaemonAddress, daemonLogFile, readDaemonAddress } from "./daemon-file.ts";
import { probe } from "./daemon-client.ts";
import { notProven } from "./proven-connection.ts";

/** The message of a background daemon to the process that started it. */
export type StartReport = { readonly kind: "ready" } | { readonly kind: "failed"; readonly error: ErrorReport };

export interface StartOptions {
  readonly home: string;
  /** Arguments of `pml serve`. */
  readonly serveArguments: readonly string[];
}

const START_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 40;

/**
 * Finds the daemon of a PML_HOME, or starts it. When many processes try at once, one starts it and the others wait; if
 * the starter dies, the next one takes over.
 */
export async function ensureDaemon(options: StartOptions): Promise<DaemonAddress> {
  const deadline = Date.now() + START_LIMIT_MS;
  ensureHome(options.home);
  secureHome(options.home);
  while (Date.now() < deadline) {
    const running = await findDaemon(options.home);
    if (running !== undefined) return running;
    using lock = tryFileLock(join(options.home, "start.lock"));
    if (lock === undefined) await sleep(LOOK_AGAIN_MS);
    else if ((await findDaemon(options.home)) === undefined) await startDaemon(options);
  }
  throw new PmlError("daemon_start_failed", `No daemon started for ${options.home} within ${START_LIMIT_MS / 1000} s`, {
    hint: `Its log says why: ${daemonLogFile(options.home)}`,
  });
}

export async function findDaemon(home: string): Promise<DaemonAddress | undefined> {
  const address = readDaemonAddress(home);
  return address !== undefined && (await probe(address)) === "daemon" ? address : undefined;
}

/** Reports the process that answers at the address of the daemon and is not the daemon, or not of this version. */
export async function findStranger(home: string): Promise<PmlError | undefined> {
  const address = readDaemonAddress(home);
  return address !== undefined && (await probe(address)) === "stranger" ? notProven(address) : undefined;
}

async function startDaemon({ home, serveArguments }: StartOptions): Promise<void> {
  // Receives output outside of the logger: an early failure, a crash.
  const log = openSync(daemonLogFile(home), "a", 0o600);
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(packageRoot, "bin", "pml.js"), "serve", ...serveArguments],
    // not in the folder of the client, which may be a repository that somebody else wrote
    { detached: true, cwd: home, stdio: ["ignore", log, log, "ipc"], env: childEnvironment(home), windowsHide: true },
  );
  closeSync(log);
  const report = await Promise.race([
    once(child, "message").then(([message]) => message as StartReport),
    once(child, "exit").then(([code, signal]) => exitReport(home, code ?? signal)),
  ]);
  if (child.connected) child.disconnect();
  child.unref();
  if (report.kind === "ready") return;
  if (report.error.code !== "store_busy") throw fromErrorReport(report.error);
  // Another owner may have started meanwhile, which is just as good, unless it never proves itself.
  const stranger = await findStranger(home);
  if (stranger !== undefined && stranger.details["pid"] === report.error.details?.["pid"]) throw stranger;
}

function exitReport(home: string, how: unknown): StartReport {
  const message = `The daemon ended while starting (${String(how)})`;
  const hint = `Its log says why: ${daemonLogFile(home)}`;
  return { kind: "failed", error: { code: "daemon_start_failed", id: "", message, hint } };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
