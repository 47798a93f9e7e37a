import { execFileSync } from "node:child_process";

/** Runs a program of the system and returns its output. */
export function runProgram(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** Returns the reason why this process cannot mount file systems, or undefined if it can. */
export function whyNoMounts(programs: readonly string[]): string | undefined {
  if (process.platform !== "linux") return `it needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return "it needs root, to mount a file system of its own";
  const missing = programs.filter((program) => !hasProgram(program));
  return missing.length === 0 ? undefined : `it needs ${missing.join(", ")}`;
}

function hasProgram(program: string): boolean {
  try {
    runProgram("sh", "-c", `command -v ${program}`);
    return true;
  } catch {
    return false; // the shell found no such program
  }
}

const UNMOUNT_ATTEMPTS = 50;
const UNMOUNT_PAUSE_MS = 100;

/** Retries: a process that was just killed may hold its files for a moment longer. */
export function unmount(folder: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      runProgram("umount", folder);
      return;
    } catch (error) {
      if (attempt === UNMOUNT_ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, UNMOUNT_PAUSE_MS);
    }
  }
}
