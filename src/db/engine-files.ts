import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { PGlite } from "@electric-sql/pglite";

/**
 * A file of PGlite's package, in a buffer that can be resized, since such ones are mapped and unmapped. PGlite itself would
 * take one of the C library: when that is freed, glibc concludes that 9 MB is an ordinary size, keeps all that is smaller
 * in its heaps from then on, and does not shrink them by less than twice as much: some 30 MB in a process with many threads.
 */
export function readEngineFile(name: "pglite.wasm" | "pglite.data"): Uint8Array<ArrayBuffer> {
  const file = openSync(pathOf(name), "r");
  try {
    const { size } = fstatSync(file);
    const bytes = new Uint8Array(new ArrayBuffer(size, { maxByteLength: size }));
    for (let read = 0; read < size;) read += readSync(file, bytes, { offset: read });
    return bytes;
  } finally {
    closeSync(file);
  }
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`./${name}`, import.meta.resolve("@electric-sql/pglite")));
}

/** The bundle of the engine's own files, as PGlite wants to be given it. */
export class EngineFiles extends Blob {
  override arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(readEngineFile("pglite.data").buffer);
  }
}

/** A file or a folder of Emscripten's file system in memory. */
interface MemoryNode {
  /** A folder's nodes by name, or a file's bytes. */
  readonly contents?: Readonly<Record<string, MemoryNode>> | Uint8Array | null;
}

interface EmscriptenModule {
  readonly FS: { lookupPath(path: string): { readonly node: MemoryNode } };
}

/** One that comes with the engine, and is there as long as it is. */
const ONE_OF_THEM = "/pglite/share/postgresql/errcodes.txt";

/**
 * The files that come with the engine - time zones, collations, encodings, what a new database is made from - are 6 MB, of which
 * one that runs needs next to nothing. They are in memory as one bundle; from here on each is read from its place in
 * the bundle's file whenever it is needed.
 */
export function leaveFilesOnDisk({ Module }: PGlite): void {
  const { FS } = Module as unknown as EmscriptenModule;
  const { contents } = FS.lookupPath(ONE_OF_THEM).node;
  if (!(contents instanceof Uint8Array)) throw new Error(`${ONE_OF_THEM} is not a file in memory`);
  const bundle = contents.buffer as ArrayBuffer;
  const path = pathOf("pglite.data");
  for (const { node, bytes } of filesBelow(FS.lookupPath("/").node)) {
    if (bytes.buffer !== bundle) continue;
    const { byteOffset, length } = bytes;
    Object.defineProperty(node, "contents", { get: () => readPart(path, byteOffset, length) });
  }
  bundle.transfer(0);
}

function* filesBelow(node: MemoryNode): Generator<{ readonly node: MemoryNode; readonly bytes: Uint8Array }> {
  const { contents } = node;
  if (contents instanceof Uint8Array) yield { node, bytes: contents };
  else for (const each of Object.values(contents ?? {})) yield* filesBelow(each);
}

function readPart(path: string, position: number, length: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    const bytes = new Uint8Array(length);
    readSync(file, bytes, { position });
    return bytes;
  } finally {
    closeSync(file);
  }
}
