import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/base/json.ts";
import { makeFolder } from "../../test/support/folder.ts";
import { behaviourOf, type GoldCall, type GoldTask } from "./gold-task.ts";
import type { ArgumentSite, PlayedWorld } from "./played-world.ts";
import { writeProgram } from "./write-program.ts";

const FILES = {
  "τ retail, train": "tau_bench/envs/retail/tasks_train.py",
  "τ retail, test": "tau_bench/envs/retail/tasks_test.py",
  "τ airline, test": "tau_bench/envs/airline/tasks_test.py",
} as const;

/** Finds a checkout of tau-bench: the folder itself, or one in it. */
export function findTauCheckout(worlds: string): string | undefined {
  return [worlds, join(worlds, "tau-bench")].find((folder) => existsSync(join(folder, "tau_bench")));
}

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

const SERVER = join(import.meta.dirname, "tau-server.py");
const MOST_OUTPUT = 2 ** 28;

/** Opens a τ world to be played; its tasks are sequences of calls with literal values. */
export async function openTauWorld(
  checkout: string,
  world: "retail" | "airline",
  tasks: readonly GoldTask[],
): Promise<PlayedWorld> {
  const folder = await makeFolder("pml-bench-tau-");
  const changes = join(folder.path, "changes.json");
  let epoch = 0;
  const states = readGoldStates(checkout, world, tasks);
  return {
    name: `τ ${world}`,
    servers: {
      [world]: { command: "python3", args: [SERVER, "serve", checkout, world, folder.path], pml: { trustHints: true } },
    },
    tasks: tasks.map(({ intent, calls }, index) => ({
      id: `τ ${world} ${index + 1}`,
      behaviour: behaviourOf(calls),
      intent,
      values: namedValues(calls),
      sites: listSites(world, calls),
      gold: { state: states[index] ?? "", result: null },
      write: (_mode, random) => writeProgram(world, calls, random),
    })),
    modes: ["literal"],
    reuseGoal: 65,
    reset: () => {
      epoch += 1;
      writeFileSync(join(folder.path, "epoch"), String(epoch));
      return Promise.resolve(writeFileSync(changes, "{}"));
    },
    read: () => Promise.resolve(readFileSync(changes, "utf8")),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function readGoldStates(checkout: string, world: string, tasks: readonly GoldTask[]): string[] {
  const input = tasks.map(({ calls }) => `${JSON.stringify(calls)}\n`).join("");
  const options = { input, encoding: "utf8", maxBuffer: MOST_OUTPUT } as const;
  return execFileSync("python3", [SERVER, "gold", checkout, world], options).trim().split("\n");
}

/** The values of a task under the names of their arguments; of several with one name, the first. */
function namedValues(calls: readonly GoldCall[]): JsonObject {
  return Object.assign({}, ...calls.map(({ args }) => args).toReversed()) as JsonObject;
}

/** Where values go: each argument, and of repeated calls also the list of what was passed. */
function listSites(server: string, calls: readonly GoldCall[]): ArgumentSite[] {
  const single = calls.flatMap(({ tool, args }) =>
    Object.entries(args).map(([argument, value]) => ({ tool: `${server}:${tool}`, argument, value, isList: false })),
  );
  const repeated = Map.groupBy(calls, ({ tool }) => tool);
  const lists = [...repeated].flatMap(([tool, group]) => {
    const [only, ...others] = Object.keys(group[0]?.args ?? {});
    if (group.length < 2 || only === undefined) return [];
    const site = { tool: `${server}:${tool}`, isList: true };
    const items = { ...site, argument: "item", value: group.map(({ args }) => args) };
    return others.length > 0
      ? [items]
      : [items, { ...site, argument: only, value: group.flatMap(({ args }) => args[only] ?? []) }];
  });
  return [...lists, ...single];
}
