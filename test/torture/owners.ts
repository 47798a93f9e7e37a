/** Finds the processes of a PML_HOME through the kernel. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { dataDirectory } from "../../src/db/open-embedded.ts";
import { PmlError } from "../../src/base/errors.ts";

/** Finds processes with open files of the database: more than one at a time destroys it. */
export function findOwners(home: string): number[] {
  const data = `${dataDirectory(home)}/`;
  return listProcesses().filter((pid) => openFiles(pid).some((path) => path.startsWith(data)));
}

/** Finds daemons started for the PML_HOME, whatever their state. */
export function findDaemons(home: string): number[] {
  return findCommands(home, "serve");
}

function findCommands(home: string, command: "mcp" | "serve"): number[] {
  return listProcesses().filter((pid) => {
    const environment = attempt(() => readFileSync(`/proc/${pid}/environ`, "utf8")) ?? "";
    const words = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
    return environment.split("\0").includes(`PML_HOME=${home}`) && words.split("\0").includes(command);
  });
}

/** Returns the error for a second owner; undefined if the lock was free. */
export function tryToOwn(home: string): PmlError | undefined {
  try {
    using _ownership = acquireOwnership(home);
    return undefined;
  } catch (error) {
    if (error instanceof PmlError) return error;
    throw error;
  }
}

/** Kills all processes of the PML_HOME: shims first, because they would start the next daemon. */
export function killCommands(home: string): void {
  for (const command of ["mcp", "serve"] as const) {
    for (const pid of findCommands(home, command)) attempt(() => process.kill(pid, "SIGKILL"));
  }
}

function listProcesses(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const descriptors = attempt(() => readdirSync(folder)) ?? [];
  return descriptors.flatMap((descriptor) => attempt(() => readlinkSync(join(folder, descriptor))) ?? []);
}

/** Processes come and go meanwhile. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
