import { getHeapStatistics } from "node:v8";
import { runInNewContext } from "node:vm";

/** A regular collection keeps the freed pages for later; the last resort returns them to the system, in twice the time. */
type Flavor = "regular" | "last-resort";
type Collect = (options: { type: "major"; execution: "sync"; flavor: Flavor }) => void;

/** Collects all garbage of this thread. Does nothing in a process that was started without `--expose-gc`. */
export function collectGarbage(flavor: Flavor): void {
  const collect = runInNewContext("globalThis.gc") as Collect | undefined;
  collect?.({ type: "major", execution: "sync", flavor });
}

const CHECK_EVERY_MS = 10_000;
/** A thread that works for less than this share of the time can spare the 50 ms of a collection. */
const IDLE_SHARE = 0.5;
const WORTH_BYTES = 8 * 1024 * 1024;

/**
 * Collects the garbage of this thread whenever it is idle and has enough of it. V8 collects only when it needs room, so a
 * process that idles for most of the day would keep what its start or a busy minute left behind.
 */
export function collectWhenIdle(checkEveryMs = CHECK_EVERY_MS): Disposable {
  let checked = performance.eventLoopUtilization();
  let left = 0;
  const check = (): void => {
    const { utilization } = performance.eventLoopUtilization(checked);
    checked = performance.eventLoopUtilization();
    if (utilization > IDLE_SHARE || heldBytes() < left + WORTH_BYTES) return;
    collectGarbage(left === 0 ? "last-resort" : "regular");
    left = heldBytes();
  };
  const timer = setInterval(check, checkEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function heldBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}
