import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { collectGarbageLater } from "../collect-garbage.ts";

/** Both halves of the space for new objects: with half of it collections take a quarter of a call's time, with twice of it no less. */
const YOUNG_BYTES = 4 * 1024 * 1024;
/** What old objects may come to, over what was left of them by the last collection, before there is another one. */
const GROWTH_PERCENT = 20;

/**
 * By default the space for new objects grows to 32 MB and more, and stays; collecting a small one more often costs no more
 * here. Several threads would take longer for so little, above all where they have to wait for a processor, and
 * hold on to more memory. Called before the daemon's modules are loaded, since loading them is what makes it grow first.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--no-parallel-scavenge");
  letYoungGrow(1);
}

/** Called when everything is loaded: the space for new objects grows to what calls need, that for old ones little by little. */
export function settleHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  collectGarbageLater(); // what grows by a part starts from less
  if (youngBytes() >= YOUNG_BYTES) return;
  letYoungGrow(2);
  const observer = new PerformanceObserver(() => {
    if (youngBytes() < YOUNG_BYTES) return;
    letYoungGrow(1);
    observer.disconnect();
  });
  observer.observe({ entryTypes: ["gc"] });
}

function letYoungGrow(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;
}
