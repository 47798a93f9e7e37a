import { extname } from "node:path";
import { BudgetedThread, type ThreadLimits } from "../base/budgeted-thread.ts";
import type { AnalysisAnswer, AnalysisTask, ProgramFacts, ToolName } from "./analysis-messages.ts";
import { createInstrumented, submittedText } from "./instrumented-program.ts";
import type { AnalysisOutcome, ToolCatalogue } from "./structure.ts";

/** Limits have the names of the settings under `analysis`. */
export interface AnalysisLimits extends ThreadLimits {
  readonly maxOutputBytes: number;
}

export type LimitedOutcome = AnalysisOutcome | { readonly kind: "limit"; readonly limit: keyof AnalysisLimits };

/** The tools that a program may name, with a version that changes when one of them does. */
export interface VersionedCatalogue extends ToolCatalogue {
  readonly version: number;
}

/** Analyses programs of others outside of the serving thread, within limits of time, memory and output. */
export class AnalysisThread implements AsyncDisposable {
  readonly #thread: BudgetedThread<AnalysisTask, AnalysisAnswer>;
  readonly #limits: () => AnalysisLimits;

  constructor(limits: () => AnalysisLimits) {
    this.#limits = limits;
    const script = new URL(`./analysis-worker${extname(import.meta.url)}`, import.meta.url);
    this.#thread = new BudgetedThread({ script, name: "analysis", limits });
  }

  async analyse(code: string, catalogue: VersionedCatalogue): Promise<LimitedOutcome> {
    let wanted: readonly ToolName[] = [];
    for (;;) {
      const { maxOutputBytes } = this.#limits();
      const tools = wanted.map((name) => ({ name, facts: findFacts(catalogue, name) }));
      const outcome = await this.#thread.run({ code, maxOutputBytes, toolsVersion: catalogue.version, tools });
      if (outcome.kind === "exceeded") return { kind: "limit", limit: outcome.limit };
      const { answer } = outcome;
      if (answer.kind !== "tools_missing") return toOutcome(code, answer);
      // Asks again only where the thread forgot the tools in between: it was restarted, or a tool changed.
      wanted = answer.names;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }
}

function findFacts(catalogue: VersionedCatalogue, [server, tool]: ToolName): AnalysisTask["tools"][number]["facts"] {
  const found = catalogue.findTool(server, tool);
  if (found === undefined) return null;
  const { id, inputSchema, outputSchema } = found;
  return {
    id,
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

function toOutcome(code: string, answer: Exclude<AnalysisAnswer, { kind: "tools_missing" }>): LimitedOutcome {
  if (answer.kind === "program") {
    const facts = JSON.parse(answer.facts) as ProgramFacts;
    const instrumented = createInstrumented({ text: answer.code, runs: answer.runs }, submittedText(code));
    return { kind: "program", program: { ...facts, instrumented } };
  }
  if (answer.kind !== "failed") return answer;
  if (!answer.deep) throw new Error(`the analysis failed: ${answer.message}`);
  const message = "The program is nested too deeply";
  const hint = "Move inner parts into separate functions or constants.";
  return { kind: "syntax_error", problem: { message, line: 1, column: 0, excerpt: "", hint } };
}
