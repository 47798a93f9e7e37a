import type { Sandbox } from "../execution/worker-bridge.ts";
import type { Logger } from "../base/log.ts";
import { describeMachine, type EngineName, resolveEngine } from "./engine-files.ts";
import { type ChildCommand, type LauncherName, resolveLauncher } from "./launcher.ts";
import { Pool } from "./pool.ts";
import { ProgramRun } from "./program-run.ts";

/** The keys of the configuration's `sandbox` that are not limits of a run. */
export interface SandboxOptions {
  readonly engine: EngineName | "auto";
  readonly launcher: LauncherName | "auto";
  readonly jit: boolean;
  readonly idleChildren: number;
  readonly maxChildren: number;
  /** Memory limit of prepared isolates; a run with another limit waits for its own isolate. */
  readonly memoryMb: number;
}

export interface ProcessSandbox extends Sandbox {
  /** Starts spare processes in the background, so that the first run does not wait for one. */
  warm(): void;
  readonly pids: readonly number[];
}

/** Runs programs in child processes, each in a fresh isolate. Throws if no safe engine is available. */
export function createSandbox(options: SandboxOptions, log: Logger): ProcessSandbox {
  const { jit, memoryMb, idleChildren, maxChildren } = options;
  const engine = resolveEngine(options.engine);
  if (engine.name === "quickjs" && options.engine === "auto") {
    log.warn({ machine: describeMachine() }, "isolated-vm has no build for this machine; programs run in QuickJS");
  }
  const launch = async (): Promise<ChildCommand> => {
    const command = await resolveLauncher(options.launcher, { engine, jit, memoryMb });
    log.info({ engine: engine.name, jit, launcher: command.isWrapped ? "bubblewrap" : "plain" }, "sandbox");
    return command;
  };
  const pool = new Pool({ launch, idleChildren, maxChildren, log });
  return {
    run(program, host, signal) {
      const run = new ProgramRun(program, host, signal);
      const bytes = Buffer.byteLength(program.code);
      if (bytes > program.limits.maxCodeBytes) run.exceed("maxCodeBytes", bytes);
      else if (program.depth > program.limits.maxDepth) run.exceed("maxDepth");
      else pool.submit(run);
      return run.outcome;
    },
    warm: () => pool.warm(),
    get pids() {
      return pool.pids;
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
