import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects all garbage of this thread, and gives the room back. For what is done once and leaves much, in a thread that will
 * make so little more that nothing would be collected for long.
 */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
}

const LATER_MS = 10_000;

/** The same for what a start left, when nobody waits for the start any more. */
export function collectGarbageLater(): void {
  setTimeout(collectGarbage, LATER_MS).unref();
}
