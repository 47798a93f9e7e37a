import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ENGINE_FLAGS } from "../base/engine-flags.ts";
import { PmlError } from "../base/errors.ts";
import type { EngineFiles } from "./engine-files.ts";

export type LauncherName = "plain" | "bubblewrap";

/** The command that starts a child. */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** True if the spawned process is a wrapper around the child. */
  readonly isWrapped: boolean;
}

export interface ChildSettings {
  readonly engine: EngineFiles;
  readonly jit: boolean;
  /** Memory limit of isolates that are prepared ahead. */
  readonly memoryMb: number;
}

const childFolder = fileURLToPath(new URL("child/", import.meta.url));
const guestFolder = fileURLToPath(new URL("guest/", import.meta.url));
/** Fixed, because time zone and language of the machine would make two runs of a program differ. */
const ENVIRONMENT = { TZ: "UTC", LANG: "en_US.UTF-8" };
const PROBE_MS = 10_000;
const BUBBLEWRAP_PATHS = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/** Starts Node without every permission that a program could use if it escaped from its isolate. */
function plainCommand({ engine, jit, memoryMb }: ChildSettings): ChildCommand {
  const readable = [`${childFolder}*`, `${guestFolder}*`, ...engine.readable];
  readable.forEach(refuseStar);
  // QuickJS is WebAssembly, which needs the compiler.
  const engineFlags =
    engine.name === "isolated-vm"
      ? ["--no-node-snapshot", "--allow-addons", ...ENGINE_FLAGS.isolatedVm, ...(jit ? [] : ENGINE_FLAGS.withoutJit)]
      : ENGINE_FLAGS.quickJs;
  const args = [
    ...engineFlags,
    ...ENGINE_FLAGS.sandbox,
    "--no-warnings",
    "--no-experimental-sqlite",
    "--permission",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `${childFolder}main.mjs`,
    engine.name,
    ...engine.files,
    String(memoryMb),
  ];
  return { file: process.execPath, args, env: ENVIRONMENT, isWrapped: false };
}

/** Node reads a star anywhere in a path as "everything that begins so": the child could read folders beside PML's. */
function refuseStar(path: string): void {
  if (!path.replace(/\*$/, "").includes("*")) return;
  throw new PmlError(
    "sandbox_unavailable",
    `Programs cannot run while PML is in a folder with a star in its path: ${path}`,
    {
      hint: "Install PML in another folder",
    },
  );
}

/** Runs the same command in a container: no network, no other processes, only its own files. */
function bubblewrapCommand(path: string, settings: ChildSettings): ChildCommand {
  const { file, args, env } = plainCommand(settings);
  const unshared = ["user", "net", "ipc", "uts", "pid"].map((space) => `--unshare-${space}`);
  const libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].flatMap((each) => ["--ro-bind-try", each, each]);
  const readable = [file, childFolder, guestFolder, ...settings.engine.readable.map((each) => each.replace(/\*$/, ""))];
  const bound = readable.flatMap((each) => ["--ro-bind", each, each]);
  const variables = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  const wrapping = [...unshared, "--die-with-parent", "--new-session", "--clearenv", ...variables, ...libraries];
  return { file: path, args: [...wrapping, ...bound, "--dev", "/dev", file, ...args], env: {}, isWrapped: true };
}

/** Resolves the command that starts children: the requested launcher, or the strongest that works here. */
export async function resolveLauncher(wanted: LauncherName | "auto", settings: ChildSettings): Promise<ChildCommand> {
  if (wanted === "plain") return plainCommand(settings);
  const path = BUBBLEWRAP_PATHS.find((each) => existsSync(each));
  const wrapped = path === undefined ? undefined : bubblewrapCommand(path, settings);
  const problem = wrapped === undefined ? `none of ${BUBBLEWRAP_PATHS.join(", ")} exists` : await probe(wrapped);
  if (wrapped !== undefined && problem === undefined) return wrapped;
  if (wanted === "auto") return plainCommand(settings);
  throw new PmlError("sandbox_unavailable", `bubblewrap does not work here: ${problem}`, {
    hint: 'Install bubblewrap, allow unprivileged user namespaces, or set "sandbox": {"launcher": "auto"}',
  });
}

/** Returns the problem, if any. A child with empty stdin starts and exits at once. */
async function probe({ file, args, env }: ChildCommand): Promise<string | undefined> {
  const trial = promisify(execFile)(file, args, { env, cwd: "/", timeout: PROBE_MS, encoding: "latin1" });
  trial.child.stdin?.end();
  try {
    const { stdout } = await trial;
    return stdout.endsWith("K") ? undefined : `the probe said ${JSON.stringify(stdout.slice(0, 200))}`;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 500) : String(error);
  }
}
