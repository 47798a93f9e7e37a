import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { collectWhenIdle } from "../base/collect-garbage.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { DurableFS, durableOptions } from "./durable-fs.ts";
import { compileEngine } from "./engine-module.ts";
import { createPlanKeeper } from "./plan-keeper.ts";
import { createWalKeeper } from "./wal-keeper.ts";
import { findEngineDeath } from "./wire-answer.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/**
 * The thread that runs the embedded engine: wire-protocol bytes in, wire-protocol bytes out. The engine blocks while it
 * works, and the gateway must keep answering meanwhile.
 */
if (parentPort === null) throw new Error("pglite-worker runs as a worker thread only");
const port = parentPort;
const send = (message: FromWorker): void => port.postMessage(message);

const fs = new DurableFS(String(workerData));

async function openEngine(): Promise<PGlite> {
  const engine = await PGlite.create({ ...durableOptions(fs), pgliteWasmModule: await compileEngine() });
  collectWhenIdle();
  const before = fs.fsyncs;
  await engine.query("SELECT pg_logical_emit_message(true, 'pml', 'does a commit reach the disk?')");
  if (fs.fsyncs > before) return engine;
  await engine.close();
  throw new PmlError("store_not_durable", "A commit was acknowledged without reaching the disk", {
    hint: "Reinstall PML, so that the embedded database has the version it was tested with: npm ci",
  });
}

function engineDied(reason: string): PmlError {
  const full = reason.includes("No space left");
  return new PmlError(full ? "disk_full" : "store_unusable", `The embedded database stopped: ${reason}`, {
    hint: full
      ? "Free some space and start again: pml up. Nothing acknowledged is lost"
      : "Start again: pml up. What was acknowledged is recovered from the log; if it stops again, run: pml doctor",
  });
}

try {
  const engine = await openEngine();
  const keepWalSmall = createWalKeeper(engine, fs);
  const keepPlansFresh = createPlanKeeper(engine, fs);
  let last = Promise.resolve();
  port.on("message", (message: ToWorker) => {
    last = last
      .then(() => serve(message))
      .catch((error: unknown) => send({ kind: "fatal", error: toErrorReport(error) }));
  });
  const serve = async (message: ToWorker): Promise<void> => {
    if (message.kind === "close") {
      await engine.exec("CHECKPOINT").catch(() => undefined); // without it the next start has more to recover
      await engine.close();
      send({ kind: "closed" });
      port.close();
      return;
    }
    const answer = await engine.execProtocolRaw(message.bytes, { syncToFs: false });
    message.bytes.buffer.transfer(0); // frees the memory now: this thread allocates so little that the next collection is far away
    send({ kind: "bytes", bytes: answer });
    const death = findEngineDeath(answer);
    if (death !== undefined) throw engineDied(death);
    await keepWalSmall(answer);
    await keepPlansFresh(answer);
  };
  send({ kind: "ready" });
} catch (error) {
  send({ kind: "fatal", error: toErrorReport(error) });
  port.close();
}
