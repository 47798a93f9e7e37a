// @ts-check
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { wrapProgram } from "./program-text.mjs";

const GUEST_FILE = "pml:guest";

/** @typedef {import("./engine.ts").RunEvents} RunEvents */
/** @typedef {(...args: unknown[]) => unknown} GuestFunction */
/** @typedef {import("isolated-vm").Reference<Record<"main" | "settle", GuestFunction>>} Guest */

/**
 * Runs programs in V8, synchronously on the main thread, whose small stack makes deep recursion fail at once. Only
 * strings cross between guest and child, so the child never copies a guest's object.
 * @param {string} addon @param {string} guestSource @returns {import("./engine.ts").IsolateEngine}
 */
export function createIsolatedVmEngine(addon, guestSource) {
  /** @type {{ ivm: typeof import("isolated-vm") }} */
  const { ivm } = createRequire(import.meta.url)(addon);
  const runtime = compileOnce(ivm, guestSource);
  return { prepare: async (memoryMb) => createIsolate(ivm, runtime, memoryMb) };
}

/** @typedef {import("isolated-vm").ExternalCopy<ArrayBuffer>} CompiledData */
/** @typedef {{ readonly source: string, readonly filename: string, readonly cachedData?: CompiledData }} Runtime */

/**
 * Compiles all functions of the guest (`--no-lazy`) once for all later isolates. V8 trusts cached data blindly, so it is
 * created here, before the first program runs, and never leaves the process.
 * @param {typeof import("isolated-vm")} ivm @param {string} source @returns {Runtime}
 */
function compileOnce(ivm, source) {
  const isolate = new ivm.Isolate();
  const script = isolate.compileScriptSync(source, { filename: GUEST_FILE, produceCachedData: true });
  const { cachedData } = /** @type {{ cachedData?: CompiledData }} */ (script); // missing from the package's types
  isolate.dispose();
  return { source, filename: GUEST_FILE, ...(cachedData === undefined ? {} : { cachedData }) };
}

/**
 * @param {typeof import("isolated-vm")} ivm @param {Runtime} runtime @param {number} memoryMb
 * @returns {import("./engine.ts").Isolate}
 */
function createIsolate(ivm, { source, ...compiled }, memoryMb) {
  const isolate = new ivm.Isolate({ memoryLimit: memoryMb });
  const context = isolate.createContextSync();
  /** @type {RunEvents | undefined} */
  let events;
  let startedAtMs = 0;
  let allowedMs = 0;
  const send = new ivm.Callback((/** @type {unknown} */ type, /** @type {unknown} */ text) => {
    if (typeof type === "string" && typeof text === "string") events?.send(type, text);
  });
  const boot = isolate.compileScriptSync(source, compiled).runSync(context, { reference: true });
  const guest = /** @type {Guest} */ (boot.applySync(undefined, [send], { result: { reference: true } }));
  const main = guest.getSync("main", { reference: true });
  const settle = guest.getSync("settle", { reference: true });

  /** Runs guest code; reports errors as events and never throws. @param {(timeout: number) => void} work */
  const enter = (work) => {
    const timeout = Math.ceil(startedAtMs + allowedMs - readCpuMs(isolate));
    if (timeout <= 0) return events?.limit("cpuMs");
    const started = performance.now();
    try {
      return work(timeout);
    } catch (error) {
      if (isolate.isDisposed) return events?.limit("memoryMb");
      if (performance.now() - started >= timeout) return events?.limit("cpuMs");
      // V8 passes an unhandled rejection to the code that entered the isolate.
      return events?.warn(`Unhandled promise rejection: ${messageOf(error)}`);
    }
  };

  return {
    start({ code, fileName, args, setup }, given) {
      events = given;
      allowedMs = setup.limits.cpuMs;
      startedAtMs = readCpuMs(isolate);
      let script;
      try {
        script = isolate.compileScriptSync(wrapProgram(code), { filename: fileName });
      } catch (error) {
        return events.send("E", describeSyntaxError(error));
      }
      enter((timeout) => {
        const program = script.runSync(context, { reference: true, timeout });
        main.applySync(undefined, [program.derefInto(), args, JSON.stringify(setup)], { timeout });
      });
    },
    settle: (answer) => enter((timeout) => void settle.applySync(undefined, [answer], { timeout })),
    stats() {
      const { used_heap_size: used, externally_allocated_size: external } = isolate.getHeapStatisticsSync();
      return { cpuMs: readCpuMs(isolate) - startedAtMs, heapBytes: used + external };
    },
    dispose: () => isolate.dispose(),
  };
}

/** @param {import("isolated-vm").Isolate} isolate */
function readCpuMs(isolate) {
  return Number(isolate.cpuTime) / 1e6;
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** V8 appends the position to the message: `Unexpected token [file:1:2]`. @param {unknown} error */
function describeSyntaxError(error) {
  const text = messageOf(error);
  const [, message = text, place = ""] = /^(.*) \[(.*:\d+:\d+)\]$/s.exec(text) ?? [];
  return JSON.stringify({ name: "SyntaxError", message, stack: `at ${place}` });
}
