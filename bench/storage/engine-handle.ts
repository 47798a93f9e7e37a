import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Column, EngineAnswer, EngineRequest, TimedTransfer } from "./engine.ts";

/** An engine in another process. */
export interface EngineHandle extends AsyncDisposable {
  readonly column: Column;
  /** Time from the start of its process until it is migrated and accepts queries. */
  readonly startMs: number;
  script(statements: string): Promise<void>;
  /** Returns the milliseconds of each operation. */
  measure(kind: "lookup" | "insert" | "batch", count: number): Promise<number[]>;
  transfer(kind: "export" | "import", path: string): Promise<TimedTransfer>;
}

const SCRIPT = new URL("./engine-process.ts", import.meta.url);

export async function startEngine(column: Column, location: string): Promise<EngineHandle> {
  const started = performance.now();
  const child = fork(SCRIPT, [column, location], {
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  await receive(child, column);
  const startMs = performance.now() - started;
  const ask = async <T>(request: EngineRequest): Promise<T> => {
    child.send(request);
    return (await receive(child, column)) as T;
  };
  return {
    column,
    startMs,
    script: (statements) => ask({ kind: "script", statements }),
    measure: (kind, count) => ask({ kind, count }),
    transfer: (kind, path) => ask({ kind, path }),
    async [Symbol.asyncDispose]() {
      if (!child.connected) return;
      const exited = once(child, "exit");
      await ask({ kind: "close" });
      await exited;
    },
  };
}

async function receive(child: ChildProcess, column: Column): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    const answer = await Promise.race([
      once(child, "message", { signal }).then(([message]) => message as EngineAnswer),
      once(child, "exit", { signal }).then(([code]): EngineAnswer => ({ error: `its process ended (${code})` })),
    ]);
    if ("error" in answer) throw new Error(`${column}: ${answer.error}`);
    return answer.ok;
  } finally {
    waiting.abort();
  }
}
