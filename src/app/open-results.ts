import type { Config } from "../config/load-config.ts";
import type { Db } from "../db/client.ts";
import { FitThread, type ResultCutter } from "../gateway/results/fit-thread.ts";
import { createKeptResults, type KeptResults } from "../gateway/results/kept-results.ts";

export type Results = KeptResults & ResultCutter;

/** Opens everything for results that are too large to send at once. */
export function openResults(config: Config, db: Db): Results & AsyncDisposable {
  const cutter = new FitThread(() => config.analysis);
  return {
    ...createKeptResults(db, config.scope, config.results),
    cut: (result) => cutter.cut(result),
    [Symbol.asyncDispose]: () => cutter[Symbol.asyncDispose](),
  };
}
