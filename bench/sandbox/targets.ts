import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { findProcUsage } from "../../src/sandbox/process-usage.ts";
import { openSandbox, runProgram } from "../../test/support/sandbox.ts";
import type { BareRequest } from "./bare-isolate.ts";

interface Measured {
  /** Milliseconds of each run. */
  readonly durations: readonly number[];
  /** Total CPU time, of all processes. */
  readonly cpuMs: number;
}

/** A product that runs programs. */
export interface SandboxTarget extends AsyncDisposable {
  readonly name: string;
  readonly measure: (body: string, count: number) => Promise<Measured>;
  /** Runs several at once; undefined if it cannot. */
  readonly runTogether?: (body: string) => Promise<void>;
  readonly pids: readonly number[];
}

export async function openTargets(): Promise<SandboxTarget[]> {
  return [openBare(), await openPml("PML", "isolated-vm"), await openPml("PML with QuickJS", "quickjs")];
}

async function openPml(name: string, engine: "isolated-vm" | "quickjs"): Promise<SandboxTarget> {
  const sandbox = openSandbox({ engine, idleChildren: 2 });
  const runOne = async (body: string): Promise<void> => {
    const outcome = await runProgram(sandbox, body.replaceAll("tool(", "mcp.t.x("));
    if (outcome.kind !== "returned") throw new Error(JSON.stringify(outcome));
  };
  await Promise.all([1, 2, 3, 4].map(() => runOne("return 1")));
  const childCpu = (): number => sandbox.pids.reduce((total, pid) => total + (findProcUsage(pid)?.cpuMs ?? 0), 0);
  return {
    name,
    async measure(body, count) {
      const durations: number[] = [];
      const [before, childBefore] = [process.cpuUsage(), childCpu()];
      for (let done = 0; done < count; done += 1) {
        const started = performance.now();
        await runOne(body);
        durations.push(performance.now() - started);
      }
      const { user, system } = process.cpuUsage(before);
      return { durations, cpuMs: (user + system) / 1000 + childCpu() - childBefore };
    },
    runTogether: runOne,
    get pids() {
      return sandbox.pids;
    },
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

function openBare(): SandboxTarget {
  const script = fileURLToPath(new URL("bare-isolate.ts", import.meta.url));
  const child = fork(script, { execArgv: ["--no-node-snapshot"] });
  return {
    name: "bare isolate",
    async measure(body, count) {
      const answer = once(child, "message") as Promise<[Measured]>;
      child.send({ body, count } satisfies BareRequest);
      return (await answer)[0];
    },
    pids: [],
    async [Symbol.asyncDispose]() {
      const gone = once(child, "exit");
      child.kill();
      await gone;
    },
  };
}
