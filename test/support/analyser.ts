import { analyseProgram } from "../../src/analysis/analyse-program.ts";
import type { Analyser } from "../../src/execution/analysed-programs.ts";

/** Analyses in the thread of the test. */
export const inThread: Analyser = {
  limits: () => ({ maxMillis: 5_000, maxHeapMb: 256, maxOutputBytes: 1024 * 1024, maxCodeBytes: 256 * 1024 }),
  analyse: async (code, catalogue) => analyseProgram(code, catalogue),
};
