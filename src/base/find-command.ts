import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/** Finds the file of a command: the path itself, or the first file of that name in the PATH. */
export function findCommand(command: string, path: string, cwd = "."): string | undefined {
  if (isAbsolute(command) || /[/\\]/.test(command)) return firstRunnable([resolve(cwd, command)]);
  return firstRunnable(path.split(delimiter).map((folder) => join(folder, command)));
}

function firstRunnable(files: readonly string[]): string | undefined {
  const endings = process.platform === "win32" ? ["", ".exe", ".cmd", ".bat"] : [""];
  return files.flatMap((file) => endings.map((ending) => file + ending)).find(isRunnable);
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
