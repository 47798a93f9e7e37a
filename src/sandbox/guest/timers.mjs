// @ts-check
import { NOWHERE } from "./channel.mjs";
import {
  apply,
  arraySlice,
  defineGlobal,
  defineLazyGlobal,
  mapDelete,
  mapGet,
  mapSet,
  settled,
  promiseThen,
} from "./intrinsics.mjs";

const MAX_MS = 2 ** 31 - 1;

/**
 * Sleeping is a call like any other: the gateway answers and replays it.
 * @param {import("./channel.mjs").Channel} channel @param {import("./tool-globals.mjs").ToolGlobals} toolGlobals
 */
export function createTimers(channel, { callable }) {
  /** @type {Map<number, () => void>} */
  const timers = new Map();
  let last = 0;
  /** @type {import("./tool-globals.mjs").Located} */
  const sleep = (site, args) => channel.call("sleep", site, String(toMilliseconds(args[0])), sleep);
  /** @type {import("./tool-globals.mjs").Located} */
  const setTimer = (site, args) => {
    const work = args[0];
    if (typeof work !== "function") throw new TypeError("setTimeout needs a function");
    const id = (last += 1);
    apply(mapSet, timers, [id, () => apply(/** @type {() => void} */ (work), undefined, apply(arraySlice, args, [2]))]);
    const wake = () => {
      const due = apply(mapGet, timers, [id]);
      apply(mapDelete, timers, [id]);
      if (due !== undefined) due();
    };
    void apply(promiseThen, /** @type {Promise<unknown>} */ (sleep(site, [args[1]])), [wake]);
    return id;
  };
  defineGlobal("sleep", callable(sleep));
  defineGlobal("setTimeout", callable(setTimer));
  defineGlobal("clearTimeout", (/** @type {number} */ id) => void apply(mapDelete, timers, [id]));
  defineLazyGlobal("queueMicrotask", () => (/** @type {() => void} */ work) => {
    if (typeof work !== "function") throw new TypeError("queueMicrotask needs a function");
    void apply(promiseThen, settled, [() => work()]);
  });
  return { sleep: (/** @type {number} */ ms) => /** @type {Promise<unknown>} */ (sleep(NOWHERE, [ms])) };
}

/** @param {unknown} ms */
function toMilliseconds(ms) {
  const wanted = Number(ms);
  return wanted > 0 ? Math.min(wanted, MAX_MS) : 0;
}
