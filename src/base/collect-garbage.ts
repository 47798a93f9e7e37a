import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The engine keeps the room that a regular collection finds, for later. The last resort gives it back, in twice the time. */
type Flavor = "regular" | "last-resort";
type Collect = (options: { type: "major"; execution: "sync"; flavor: Flavor }) => void;

let collect: Collect | undefined;

/** Collects all garbage of this thread. */
export function collectGarbage(flavor: Flavor): void {
  collect ??= findCollector();
  collect?.({ type: "major", execution: "sync", flavor });
}

/** The flag is the whole process's: when another thread takes it back in this moment there is none, until the next time. */
function findCollector(): Collect | undefined {
  setFlagsFromString("--expose-gc");
  const found = runInNewContext("globalThis.gc") as Collect | undefined;
  setFlagsFromString("--no-expose-gc");
  return found;
}

const LOOK_EVERY_MS = 10_000;
/** Of the time. A thread that works for less has room for the 50 ms that it takes in the gateway's own, once in a while. */
const QUIET = 0.5;
const WORTH_BYTES = 8 * 1024 * 1024;

/**
 * From now on collects the garbage of this thread whenever it has little else to do and there is enough of it. The engine
 * itself does so when it needs room; in a process that idles for most of the day, what a start or a busy minute left would stay.
 * A start leaves the most, which is given back.
 */
export function collectWhenQuiet(lookEveryMs = LOOK_EVERY_MS): Disposable {
  let looked = performance.eventLoopUtilization();
  let left = 0;
  const look = (): void => {
    const { utilization } = performance.eventLoopUtilization(looked);
    looked = performance.eventLoopUtilization();
    if (utilization > QUIET || heldBytes() < left + WORTH_BYTES) return;
    collectGarbage(left === 0 ? "last-resort" : "regular");
    left = heldBytes();
  };
  const timer = setInterval(look, lookEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function heldBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}
