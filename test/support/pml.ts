/** Runs the product as a user does: the command line, as a separate process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/base/package-info.ts";
import { cacheFolder } from "./cache-folder.ts";

export const PML = join(packageRoot, "bin", "pml.js");

export interface RunResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PmlOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
}

/** The environment of a test: isolated from the tester's own PML, without servers other than the configured ones. */
export function testEnvironment({ home, env = {} }: PmlOptions): Record<string, string> {
  const config = existsSync(join(home, "pml.json")) ? {} : { PML_CONFIG: join(import.meta.dirname, "no-servers.json") };
  // tests share compiled code, which would otherwise be written into each HOME
  const cache = { XDG_CACHE_HOME: cacheFolder("compiled") };
  return { PATH: process.env["PATH"] ?? "", HOME: home, PML_HOME: home, PML_PORT: "0", ...cache, ...config, ...env };
}

export function spawnPml(args: readonly string[], options: PmlOptions): ChildProcess {
  return spawn(process.execPath, [PML, ...args], {
    env: testEnvironment(options),
    cwd: options.cwd ?? options.home,
    stdio: ["pipe", "pipe", "pipe"],
  });
}

export async function runPml(args: readonly string[], options: PmlOptions): Promise<RunResult> {
  const child = spawnPml(args, options);
  child.stdin?.end(options.input ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** Runs a command with --json and returns its document. */
export async function runJson<T>(args: readonly string[], options: PmlOptions): Promise<T> {
  const { stdout, stderr, code } = await runPml([...args, "--json"], options);
  const document = JSON.parse(stdout || "null") as { ok: boolean; data: T } | null;
  if (document?.ok !== true) throw new Error(`pml ${args.join(" ")} exited ${code}: ${stderr}${stdout}`);
  return document.data;
}

/** False for a zombie: a process that has ended but was not waited for. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Waits until a condition holds; fails with its name after the time limit. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 15_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
