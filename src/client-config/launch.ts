import { basename, join, resolve, sep } from "node:path";
import { type Environment, resolveHome } from "../config/environment.ts";
import { packageRoot } from "../base/package-info.ts";

/** The command with which a client starts `pml mcp`. */
export interface PmlLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Uses absolute paths: desktop applications often lack the shell's PATH, and `npx pml` would run a `pml` of the
 * repository that a client has opened. Passes PML_HOME and configuration explicitly, because the client does not know
 * them.
 */
export function describeLaunch(env: Environment, config: string | undefined, root = packageRoot): PmlLaunch {
  const home = resolveHome(env);
  const chosen = config ?? env["PML_CONFIG"];
  const told = {
    ...(home === resolveHome({}) ? {} : { PML_HOME: home }),
    ...(chosen ? { PML_CONFIG: resolve(chosen) } : {}),
  };
  return { command: process.execPath, args: [join(root, "bin", "pml.js"), "mcp"], env: told };
}

/** True if PML lies in the cache of npx, which may be emptied tomorrow. */
export function isInNpxCache(root = packageRoot): boolean {
  return root.split(sep).includes("_npx");
}

/** True if a server's entry, in any client's form, starts PML. */
export function startsPml(entry: unknown): boolean {
  const words = commandLine(entry);
  return (
    words.at(-1) === "mcp" && words.slice(0, -1).some((word) => /^pml(@.*|\.(?:js|cmd|exe))?$/.test(basename(word)))
  );
}

/** True if a server's entry is an address on this machine with one of these ports. */
export function reachesPort(entry: Readonly<Record<string, unknown>>, ports: readonly number[]): boolean {
  const url = [entry["url"], entry["httpUrl"], entry["serverUrl"]].find((each) => typeof each === "string");
  const parsed = URL.parse(url ?? "");
  return parsed !== null && LOOPBACK.test(parsed.hostname) && ports.includes(Number(parsed.port));
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Returns the command line of an entry; opencode has it in one list. */
export function commandLine(entry: unknown): string[] {
  if (typeof entry !== "object" || entry === null || !("command" in entry)) return [];
  const args = "args" in entry ? entry.args : [];
  return [entry.command, args].flat().filter((word) => typeof word === "string");
}
