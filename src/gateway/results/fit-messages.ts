/** A long result for the thread; JSON passes between threads faster than objects. */
export interface FitTask {
  readonly result: string;
  readonly outputSchema: string | undefined;
  readonly maxBytes: number;
  /** False leaves the structured content out instead of checking it. */
  readonly checked: boolean;
}

/** JSON of the truncated result, or the reason why there is none. */
export type FitAnswer = string | { readonly reason: string };
