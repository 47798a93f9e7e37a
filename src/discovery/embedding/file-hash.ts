import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";

/** The SHA-256 of a file, in hexadecimal. Piece by piece: the whole would stay in memory until the heap is collected. */
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
