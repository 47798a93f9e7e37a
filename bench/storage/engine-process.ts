/**
 * Runs one engine in its own process and measures it from inside: the V8 flags that PML sets for its engine would also
 * affect the engine it is compared with.
 */
import { timeEach } from "../support/interleave.ts";
import type { Column, BenchEngine, EngineAnswer, EngineRequest, TimedTransfer, Transferred } from "./engine.ts";
import { journalRows, sampleName, usageId } from "./sample-data.ts";

/** Imported lazily: loading is part of a start, and each start loads only its own engine. */
const openers: Readonly<Record<Column, (location: string) => Promise<BenchEngine>>> = {
  "PML, PGlite": async (home) => (await import("./pml-engine.ts")).openPmlPglite(home),
  "PML, PostgreSQL": async (url) => (await import("./pml-engine.ts")).openPmlPostgres(url),
  "bare pg driver": async (url) => (await import("./bare-pg.ts")).openBarePg(url),
  "bare PGlite*": async (directory) => (await import("./bare-pglite.ts")).openBarePglite(directory),
};

const TICK_MS = 5;

async function timeTransfer(transfer: () => Promise<Transferred>): Promise<TimedTransfer> {
  const started = performance.now();
  const longest = { gap: 0, busy: 0 };
  let last = { at: started, cpu: threadCpuMs() };
  const tick = (): void => {
    const now = { at: performance.now(), cpu: threadCpuMs() };
    longest.gap = Math.max(longest.gap, now.at - last.at - TICK_MS);
    longest.busy = Math.max(longest.busy, now.cpu - last.cpu);
    last = now;
  };
  const timer = setInterval(tick, TICK_MS);
  try {
    const transferred = await transfer();
    tick();
    const seconds = (performance.now() - started) / 1000;
    return { ...transferred, seconds, longestGapMs: longest.gap, longestBusyMs: longest.busy };
  } finally {
    clearInterval(timer);
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const [column = "", location = ""] = process.argv.slice(2);
const engine = await openers[column as Column](location);
let lookups = 0;
let inserts = 0;
let batches = 0;

async function serve(request: EngineRequest): Promise<"done" | number[] | TimedTransfer> {
  switch (request.kind) {
    case "script":
      await engine.script(request.statements);
      return "done";
    case "lookup":
      return timeEach(request.count, () => engine.lookup(sampleName(lookups++)));
    case "insert":
      return timeEach(request.count, () => engine.insertUsage(usageId(inserts++)));
    case "batch":
      return timeEach(request.count, () => engine.insertJournal(journalRows(batches++)));
    case "export":
      return timeTransfer(() => engine.exportTo(request.path));
    case "import":
      return timeTransfer(() => engine.importFrom(request.path));
    case "close":
      break;
  }
  await engine[Symbol.asyncDispose]();
  return "done";
}

async function answer(request: EngineRequest): Promise<EngineAnswer> {
  try {
    return { ok: await serve(request) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on("message", (request: EngineRequest) => {
  void answer(request).then((result) => {
    process.send?.(result, () => {
      if (request.kind === "close") process.disconnect();
    });
  });
});
// The parent has exited: nobody would ever close the engine.
process.on("disconnect", () => process.exit());
process.send?.({ ok: "ready" } satisfies EngineAnswer);
