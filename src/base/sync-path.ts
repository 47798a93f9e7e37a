import { closeSync, fsyncSync, openSync } from "node:fs";

/** Brings a file to disk, or what a folder says is in it. */
export function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
