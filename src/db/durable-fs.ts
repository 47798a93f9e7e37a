import { fsyncSync } from "node:fs";
import type { PGlite, PGliteOptions } from "@electric-sql/pglite";
import { PGlite as PGliteEngine } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { syncPath } from "../base/sync-path.ts";

/** The part of Emscripten's node file system that is replaced here. Internal to PGlite, hence the self-test. */
interface EmscriptenStream {
  readonly nfd?: number;
  readonly node: unknown;
}
interface EmscriptenModule {
  readonly FS: {
    readonly filesystems: {
      readonly NODEFS: {
        readonly stream_ops: {
          fsync?: (stream: EmscriptenStream) => number;
          write: (...args: unknown[]) => number;
        };
        realPath(node: unknown): string;
      };
    };
  };
}

/**
 * PGlite's node file system never calls fsync: after a power cut the database is lost or will not open. This one does,
 * and counts: the worker proves at start that commits are durable, and knows when a checkpoint is due.
 */
export class DurableFS extends NodeFS {
  fsyncs = 0;
  bytesWritten = 0;

  override async init(pg: PGlite, options: Parameters<NodeFS["init"]>[1]): ReturnType<NodeFS["init"]> {
    const prepared = await super.init(pg, options);
    const preRun = (prepared.emscriptenOpts.preRun ?? []) as ((module: unknown) => void)[];
    preRun.push((module) => this.#hook(module as EmscriptenModule));
    return { emscriptenOpts: { ...prepared.emscriptenOpts, preRun } };
  }

  #hook(module: EmscriptenModule): void {
    const nodefs = module.FS.filesystems.NODEFS;
    nodefs.stream_ops.fsync = (stream) => {
      if (stream.nfd === undefined) syncPath(nodefs.realPath(stream.node));
      else fsyncSync(stream.nfd);
      this.fsyncs += 1;
      return 0;
    };
    const { write } = nodefs.stream_ops;
    nodefs.stream_ops.write = (...args) => {
      const written = write(...args);
      this.bytesWritten += written;
      return written;
    };
  }
}

/** `-F` would turn fsync off; fdatasync is a stub in this build, so WAL is synced by fsync. */
export function durableOptions(fs: DurableFS): PGliteOptions {
  const settings = {
    wal_sync_method: "fsync",
    // Allocated in full at the start; the system's cache serves all other pages.
    shared_buffers: "8MB",
    // There is one connection, and each slot reserves memory for its locks.
    max_connections: "10",
    max_wal_size: "64MB",
    min_wal_size: "32MB",
  };
  return {
    fs,
    startParams: [
      ...PGliteEngine.defaultStartParams.filter((parameter) => parameter !== "-F"),
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
  };
}
