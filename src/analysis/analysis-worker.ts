/** The thread that analyses programs: hostile text can only exhaust the limits of this thread. */
import { parentPort } from "node:worker_threads";
import { analyseProgram } from "./analyse-program.ts";
import type { AnalysisAnswer, AnalysisTask, ToolName } from "./analysis-messages.ts";
import type { ToolFacts } from "./structure.ts";
import { TypesTooLarge } from "./type-notes.ts";

const MOST_TOOLS_KEPT = 10_000;
const tools = new Map<string, ToolFacts | null>();
let toolsVersion = 0;

function analyse(task: AnalysisTask): AnalysisAnswer {
  if (task.toolsVersion !== toolsVersion || tools.size > MOST_TOOLS_KEPT) tools.clear();
  toolsVersion = task.toolsVersion;
  for (const { name, facts } of task.tools) tools.set(keyOf(name), facts);
  const missing = new Map<string, ToolName>();
  const findTool = (server: string, tool: string): ToolFacts | undefined => {
    const key = keyOf([server, tool]);
    const known = tools.get(key);
    if (known === undefined) missing.set(key, [server, tool]);
    return known ?? undefined;
  };
  const outcome = analyseProgram(task.code, { findTool }, task.maxOutputBytes);
  if (missing.size > 0) return { kind: "tools_missing", names: [...missing.values()] };
  if (outcome.kind !== "program") return outcome;
  const { instrumented, ...program } = outcome.program;
  const facts = JSON.stringify(program);
  if (facts.length > task.maxOutputBytes) return { kind: "limit", limit: "maxOutputBytes" };
  return { kind: "program", facts, code: instrumented.code, runs: instrumented.runs };
}

function keyOf(name: ToolName): string {
  return JSON.stringify(name);
}

function answer(task: AnalysisTask): AnalysisAnswer {
  try {
    return analyse(task);
  } catch (error) {
    if (error instanceof TypesTooLarge) return { kind: "limit", limit: "maxOutputBytes" };
    // Deep recursion ends with a RangeError, and so does a text beyond the length of a string.
    return { kind: "failed", message: String(error), deep: error instanceof RangeError };
  }
}

parentPort?.on("message", (task: AnalysisTask) => parentPort?.postMessage(answer(task)));
parentPort?.postMessage(undefined);
