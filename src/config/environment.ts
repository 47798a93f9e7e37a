import { getCompileCacheDir } from "node:module";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The variables PML reads. No other file accesses the process environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const environment: Environment = process.env;

export function resolveHome(env: Environment = environment): string {
  return resolve(env["PML_HOME"] || join(homedir(), ".pml"));
}

export function isDebug(env: Environment = environment): boolean {
  return Boolean(env["PML_DEBUG"]);
}

export interface TerminalPreferences {
  readonly color: boolean | undefined;
  readonly ci: boolean;
}

/** Reads the environment's preference for colour; undefined leaves it to whether a terminal is attached. */
export function readTerminalPreferences(env: Environment = environment): TerminalPreferences {
  const ci = Boolean(env["CI"]);
  if (env["NO_COLOR"]) return { color: false, ci };
  if (env["FORCE_COLOR"] && env["FORCE_COLOR"] !== "0") return { color: true, ci };
  return { color: env["TERM"] === "dumb" ? false : undefined, ci };
}

/** Returns the environment for a daemon that a client starts: the client's own, as in a shell. */
export function childEnvironment(home: string, env: Environment = environment): Record<string, string> {
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const config = env["PML_CONFIG"];
  return { ...Object.fromEntries(defined), PML_HOME: home, ...(config ? { PML_CONFIG: resolve(config) } : {}) };
}

/**
 * Threads have a compile cache by this variable only. Without one, those of a checkout read their sources as TypeScript,
 * with a compiler that takes 20 MB in each of them.
 */
export function shareCompileCache(): void {
  const directory = getCompileCacheDir();
  if (directory !== undefined) process.env["NODE_COMPILE_CACHE"] ??= dirname(directory);
}

/** Returns the key that encrypts secrets. It is not part of the configuration, so that no command prints it. */
export function readSecretKey(env: Environment = environment): string | undefined {
  return env["PML_SECRET_KEY"];
}
