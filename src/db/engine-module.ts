import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Compiles PGlite's WebAssembly from a resizable buffer, which V8 maps and unmaps. PGlite itself would use one from
 * malloc: freeing it raises glibc's mmap and trim thresholds above 9 MB, so that its heaps retain some 30 MB in a
 * process with many threads.
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
