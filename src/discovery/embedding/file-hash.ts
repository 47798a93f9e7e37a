import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";

/**
 * SHA-256 of a file in hexadecimal. Reads in chunks: the whole file would stay on the heap until the next collection.
 */
export function hashFile(path: string): string {
  const hash = createHash("sha256");
  const piece = new Uint8Array(64 * 1024);
  const file = openSync(path, "r");
  try {
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) hash.update(piece.subarray(0, read));
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}
