import { setFlagsFromString } from "node:v8";

/** Calls of a function before it is compiled for speed, as it is done here and as V8 does it by itself. */
const [EARLY, USUAL] = [300, 3_000];

let isEarly = false;
let held = 0;

/**
 * From now on functions are compiled for speed early: most of what passes a call on is not called often enough in a day otherwise.
 * For processes that last, once they have started: what only a start calls is not worth it.
 */
export function optimizeEarly(): void {
  isEarly = true;
  setThreshold(held > 0 ? USUAL : EARLY);
}

/**
 * As usual again, until it is disposed of. A program passes through much more code than a call and needs all processors itself;
 * compiling that early takes more from its first few hundred runs than it gives the later ones.
 */
export function optimizeAsUsual(): Disposable {
  held += 1;
  if (isEarly && held === 1) setThreshold(USUAL);
  return {
    [Symbol.dispose]() {
      held -= 1;
      if (isEarly && held === 0) setThreshold(EARLY);
    },
  };
}

function setThreshold(calls: number): void {
  setFlagsFromString(`--invocation-count-for-turbofan=${calls}`);
}
