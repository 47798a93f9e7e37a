import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { LeanTarget } from "./lean-client.ts";
import type { LoadOrder, LoadReport } from "./load-process.ts";

/** Puts load on HTTP targets from a separate process. */
export interface Load extends AsyncDisposable {
  /** Connects to a target, with one connection per concurrent call. */
  open(name: string, target: LeanTarget, inFlight: number): Promise<void>;
  /** Makes the calls and returns their milliseconds. */
  run(name: string, calls: number, message: string): Promise<number>;
}

export function startLoad(): Load {
  const child = fork(join(import.meta.dirname, "load-process.ts"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const give = async (order: LoadOrder): Promise<number> => {
    child.send(order);
    const [report] = (await Promise.race([once(child, "message"), exited])) as [LoadReport | number];
    if (typeof report !== "object") throw new Error("The process that makes the load has ended");
    if (report.kind === "failed") throw new Error(`Under load: ${report.why}`);
    return report.ms;
  };
  return {
    open: async (name, target, inFlight) => void (await give({ kind: "open", name, target, inFlight })),
    run: (name, calls, message) => give({ kind: "run", name, calls, message }),
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}
