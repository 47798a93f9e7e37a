// @ts-check
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { wrapProgram } from "./program-text.mjs";

/** @typedef {import("quickjs-wasi").QuickJS} Vm */
/** @typedef {import("quickjs-wasi").JSValueHandle} Handle */

/**
 * State shared by the engine's handlers and the run. `unhandled` holds rejected promises without a handler.
 * @typedef {{
 * events: import("./engine.ts").RunEvents | undefined,
 * deadline: number,
 * unhandled: Set<number>,
 * }} State
 */

/** Stack limit of QuickJS. V8's is several times larger, so that QuickJS detects most recursions itself. */
const STACK_BYTES = 512 * 1024;
const OUT_OF_MEMORY = /^\{"name":"InternalError","message":"out of memory"/;

/**
 * Runs programs in QuickJS on WebAssembly, where isolated-vm has no build. Each run has its own instance, so damage
 * ends with the run.
 * @param {{ library: string, wasm: string }} files @param {string} guestSource
 * @returns {Promise<import("./engine.ts").IsolateEngine>}
 */
export async function createQuickJsEngine({ library, wasm }, guestSource) {
  /** @type {typeof import("quickjs-wasi")} */
  const { QuickJS } = await import(pathToFileURL(library).href);
  // This project's types do not include WebAssembly.
  const module = await Reflect.get(globalThis, "WebAssembly").compile(readFileSync(wasm));
  return {
    async prepare(memoryMb) {
      /** @type {State} */
      const state = { events: undefined, deadline: Number.POSITIVE_INFINITY, unhandled: new Set() };
      const memoryLimit = memoryMb * 1024 * 1024;
      const vm = await QuickJS.create({ wasm: module, memoryLimit, ...createHandlers(state) });
      return createIsolate(vm, state, bootGuest(vm, state, guestSource));
    },
  };
}

/** @param {State} state */
function createHandlers(state) {
  return {
    timezoneOffset: 0,
    maxStackSize: STACK_BYTES,
    wasi: silentWasi,
    interruptHandler() {
      if (performance.now() < state.deadline) return false;
      state.events?.limit("cpuMs");
      return true;
    },
    /** @param {Handle} promise @param {Handle} _reason @param {boolean} isHandled */
    onUnhandledRejection(promise, _reason, isHandled) {
      if (isHandled) state.unhandled.delete(promise.identity);
      else state.unhandled.add(promise.identity);
    },
  };
}

/**
 * Stops the clock and discards output: stdout carries the frames.
 * @param {{ readonly buffer: ArrayBuffer }} memory
 */
const silentWasi = (memory) => ({
  /** @param {number} _clock @param {bigint} _precision @param {number} result */
  clock_time_get(_clock, _precision, result) {
    new DataView(memory.buffer).setBigUint64(result, 0n, true);
    return 0;
  },
  /** @param {number} _file @param {number} _vectors @param {number} _count @param {number} written */
  fd_write(_file, _vectors, _count, written) {
    new DataView(memory.buffer).setUint32(written, 0, true);
    return 0;
  },
});

/** @param {Vm} vm @param {State} state @param {string} guestSource */
function bootGuest(vm, state, guestSource) {
  const send = vm.newFunction("send", (type, text) => {
    if (type.isString && text.isString) sendOn(state, type.toString(), text.toString());
    return vm.undefined;
  });
  const guest = vm.callFunction(vm.evalCode(guestSource, "pml:guest"), vm.undefined, send);
  return { main: guest.getProp("main"), settle: guest.getProp("settle") };
}

/** @param {State} state @param {string} type @param {string} text */
function sendOn({ events }, type, text) {
  if (type === "E" && OUT_OF_MEMORY.test(text)) events?.limit("memoryMb");
  else events?.send(type, text);
}

/**
 * @param {Vm} vm @param {State} state @param {{ main: Handle, settle: Handle }} guest
 * @returns {import("./engine.ts").Isolate}
 */
function createIsolate(vm, state, guest) {
  let allowedMs = 0;
  let usedMs = 0;
  /**
   * Runs guest code and its microtasks; reports errors as events and never throws. @param {Handle} work @param
   * {Handle[]} args
   */
  const enter = (work, ...args) => {
    const started = performance.now();
    state.deadline = started + allowedMs - usedMs;
    try {
      vm.callFunction(work, vm.undefined, ...args);
      vm.executePendingJobs();
    } catch (error) {
      // The guest's runtime never throws: either a built-in exhausted V8's stack, or memory ran out.
      if (error instanceof RangeError) state.events?.send("E", describeError(error));
      else state.events?.limit("memoryMb");
    }
    usedMs += performance.now() - started;
    if (state.unhandled.size > 0) state.events?.warn("Unhandled promise rejection");
    state.unhandled.clear();
  };
  return {
    start({ code, fileName, args, setup }, events) {
      state.events = events;
      allowedMs = setup.limits.cpuMs;
      let program;
      try {
        program = vm.evalCode(wrapProgram(code), fileName);
      } catch (error) {
        return events.send("E", describeError(error));
      }
      return enter(guest.main, program, vm.newString(args), vm.newString(JSON.stringify(setup)));
    },
    settle: (answer) => enter(guest.settle, vm.newString(answer)),
    stats: () => ({ cpuMs: usedMs, heapBytes: vm.getMemoryUsage().mallocSize }),
    dispose() {
      try {
        vm.dispose();
      } catch {
        // the instance is broken; its memory goes with it
      }
    },
  };
}

/** @param {unknown} error */
function describeError(error) {
  const { name, message, stack = "" } = /** @type {Error} */ (error);
  return JSON.stringify({ name, message, stack });
}
