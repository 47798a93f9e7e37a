import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GoldTask } from "./gold-task.ts";

const FILES = {
  "τ retail, train": "tau_bench/envs/retail/tasks_train.py",
  "τ retail, test": "tau_bench/envs/retail/tasks_test.py",
  "τ airline, test": "tau_bench/envs/airline/tasks_test.py",
} as const;

/** Reads the task sets of a checkout of tau-bench; python3 parses them, because they are Python. */
export function readTauTasks(checkout: string): ReadonlyMap<string, readonly GoldTask[]> {
  const sets = Object.entries(FILES).flatMap(([name, file]) => {
    const path = join(checkout, file);
    if (!existsSync(path)) return [];
    const lines = execFileSync("python3", [join(import.meta.dirname, "read-tau.py"), path], { encoding: "utf8" });
    const tasks = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as GoldTask);
    return [[name, tasks.filter(({ calls }) => calls.length > 0)] as const];
  });
  return new Map(sets);
}
