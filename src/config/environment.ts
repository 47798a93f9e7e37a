import { getCompileCacheDir } from "node:module";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The variables PML reads. No other file looks at the process environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const environment: Environment = process.env;

export function resolveHome(env: Environment = environment): string {
  return resolve(env["PML_HOME"] || join(homedir(), ".pml"));
}

export function isDebug(env: Environment = environment): boolean {
  return Boolean(env["PML_DEBUG"]);
}

export interface TerminalWishes {
  readonly color: boolean | undefined;
  readonly ci: boolean;
}

/** What the environment says about colour; undefined leaves it to whether a terminal is attached. */
export function readTerminalWishes(env: Environment = environment): TerminalWishes {
  const ci = Boolean(env["CI"]);
  if (env["NO_COLOR"]) return { color: false, ci };
  if (env["FORCE_COLOR"] && env["FORCE_COLOR"] !== "0") return { color: true, ci };
  return { color: env["TERM"] === "dumb" ? false : undefined, ci };
}

/** The environment a daemon gets when a client starts it: the client's own, as it would be in a shell. */
export function childEnvironment(home: string, env: Environment = environment): Record<string, string> {
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(defined), PML_HOME: home };
}

/**
 * Threads have a compile cache by this variable only. Without one, those of a checkout read their sources as TypeScript,
 * with a compiler that takes 20 MB in each of them.
 */
export function shareCompileCache(): void {
  const directory = getCompileCacheDir();
  if (directory !== undefined) process.env["NODE_COMPILE_CACHE"] ??= dirname(directory);
}

/** The key that secrets are sealed with; kept out of the configuration, so that it is shown nowhere. */
export function readSecretKey(env: Environment = environment): string | undefined {
  return env["PML_SECRET_KEY"];
}
