import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * PGlite's WebAssembly, compiled from a buffer that can be resized, since such ones are mapped and unmapped. PGlite itself would
 * take one of the C library: when that is freed, glibc concludes that 9 MB is an ordinary size, keeps all that is smaller
 * in its heaps from then on, and does not shrink them by less than twice as much: some 30 MB in a process with many threads.
 */
export function compileEngine(): Promise<WebAssembly.Module> {
  const file = openSync(fileURLToPath(new URL("./pglite.wasm", import.meta.resolve("@electric-sql/pglite"))), "r");
  try {
    const { size } = fstatSync(file);
    const bytes = new Uint8Array(new ArrayBuffer(size, { maxByteLength: size }));
    for (let read = 0; read < size;) read += readSync(file, bytes, { offset: read });
    return WebAssembly.compile(bytes);
  } finally {
    closeSync(file);
  }
}
