import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface Child extends AsyncDisposable {
  readonly pid: number;
}

/** Starts a process in its own group, so that its children end with it. */
export function startChild(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Child {
  const child: ChildProcess = spawn(command, args, {
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
    stdio: "ignore",
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} did not start`);
  return {
    pid,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      process.kill(-pid, "SIGKILL");
      await exited;
    },
  };
}
