import { once } from "node:events";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import pg from "pg";
import { fromErrorReport, PmlError } from "../base/errors.ts";
import type { DatabaseClient, ListenHandlers } from "./client.ts";
import type { Ownership } from "./owner-lock.ts";
import type { CleanText } from "./clean-values.ts";
import { connectionDefaults, createStatements } from "./pool-client.ts";
import { prepareDataDirectory } from "./template.ts";
import { WireSocket } from "./wire-socket.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export function dataDirectory(home: string): string {
  return join(home, "data");
}

/** Opens the embedded database of a PML_HOME. Requires ownership: the lock is part of the argument. */
export async function openEmbedded({ home }: Ownership, clean: CleanText = (text) => text): Promise<DatabaseClient> {
  const directory = dataDirectory(home);
  await prepareDataDirectory(directory);
  const { worker, lost } = await startWorker(directory);
  // The engine has one session, so there is one connection: a transaction holds it and everything else queues behind
  // it.
  const pool = new EmbeddedPool({
    ...connectionDefaults,
    user: "postgres",
    database: "postgres",
    max: 1,
    idleTimeoutMillis: 0,
    stream: () => new WireSocket(worker),
  });
  const listeners = new Map<string, Set<ListenHandlers>>();
  pool.on("connect", (client) => {
    client.on("notification", ({ channel, payload }) => {
      for (const { onNotification } of listeners.get(channel) ?? []) onNotification(payload ?? "");
    });
  });
  return {
    engine: "pglite",
    lost,
    ...createStatements(pool, clean),
    beforeUse: (listener) => pool.beforeUse.push(listener),
    async listen(channel, handlers) {
      const onChannel = listeners.get(channel) ?? new Set();
      listeners.set(channel, onChannel.add(handlers));
      await pool.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      handlers.onReconnect();
      return { close: async () => void onChannel.delete(handlers) };
    },
    async [Symbol.asyncDispose]() {
      await pool.end();
      await stopWorker(worker);
    },
  };
}

class EmbeddedPool extends pg.Pool {
  readonly beforeUse: (() => void)[] = [];

  // All queries pass through here, those of the pool's other methods included.
  override connect(...given: unknown[]): Promise<pg.PoolClient> {
    for (const listener of this.beforeUse) listener();
    return super.connect(...(given as []));
  }
}

const YOUNG_GENERATION_MB = 8;

async function startWorker(directory: string): Promise<{ worker: Worker; lost: Promise<Error> }> {
  const script = new URL(`./pglite-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(script, {
    workerData: directory,
    name: "pglite",
    // Its live heap is small; the default would let garbage grow to many times that before a collection.
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  const lost = whenLost(worker);
  const failure = await Promise.race([whenReady(worker), lost]);
  if (failure !== undefined) throw openError(directory, failure);
  return { worker, lost };
}

function whenReady(worker: Worker): Promise<undefined> {
  return new Promise((resolve) => {
    worker.on("message", (message: FromWorker) => {
      if (message.kind === "ready") resolve(undefined);
    });
  });
}

/** Resolves with the reason when the thread fails or exits unexpectedly. */
export function whenLost(worker: Worker): Promise<Error> {
  return new Promise((resolve) => {
    worker.on("error", resolve);
    worker.on("message", (message: FromWorker) => {
      if (message.kind === "fatal") resolve(fromErrorReport(message.error));
    });
    worker.on("exit", (code) => {
      if (code !== 0) resolve(new PmlError("store_unusable", `The embedded database's thread ended with code ${code}`));
    });
  });
}

async function stopWorker(worker: Worker): Promise<void> {
  const exited = once(worker, "exit");
  worker.postMessage({ kind: "close" } satisfies ToWorker);
  await exited;
}

function openError(directory: string, error: Error): PmlError {
  if (error instanceof PmlError && error.code !== "internal") return error;
  return new PmlError("store_unusable", `The embedded database in ${directory} did not open: ${error.message}`, {
    hint: "If the disk is full, free some space and start again: nothing acknowledged is lost. Otherwise run: pml doctor",
    details: { directory },
    cause: error,
  });
}
