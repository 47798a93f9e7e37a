import { childEnvironment, type Environment, TRIM_VARIABLE } from "../config/environment.ts";

/**
 * Makes this process start again in its own place, where the C library was not told yet to give back what is free: it is told
 * by the environment only, before anything runs. Whoever starts a daemon in the background has told it.
 */
export function startAgainTold(home: string, env: Environment): void {
  const told = process.platform !== "linux" || env[TRIM_VARIABLE] !== undefined;
  if (told || process.send !== undefined) return; // a channel to the parent would be lost
  const { execPath, execArgv, argv } = process;
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], childEnvironment(home, env));
}
