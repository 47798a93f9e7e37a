import { extname } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { BudgetedThread, type ThreadLimits } from "../../base/budgeted-thread.ts";
import type { FitAnswer, FitTask } from "./fit-messages.ts";
import type { TruncatedResult } from "./truncate-result.ts";

export interface ResultToCut {
  readonly result: CallToolResult;
  readonly outputSchema: object | undefined;
  readonly maxBytes: number;
}

/** Shortens results of others. */
export interface ResultCutter {
  /** Resolves with the result, or with the reason why it could not be shortened. */
  cut(result: ResultToCut): Promise<TruncatedResult | { readonly reason: string }>;
}

/** Shortens results and checks them against the schemas of their servers, outside of the serving thread. */
export class FitThread implements ResultCutter, AsyncDisposable {
  readonly #thread: BudgetedThread<FitTask, FitAnswer>;
  readonly #limits: () => ThreadLimits;
  /** Schemas that exhausted the limits; results of their tools are not checked again, or each would delay all others. */
  readonly #costly = new WeakSet<object>();

  constructor(limits: () => ThreadLimits) {
    this.#limits = limits;
    const script = new URL(`./fit-worker${extname(import.meta.url)}`, import.meta.url);
    this.#thread = new BudgetedThread({ script, name: "results", limits });
  }

  async cut({ result, outputSchema, maxBytes }: ResultToCut): Promise<TruncatedResult | { readonly reason: string }> {
    const checked = outputSchema === undefined || !this.#costly.has(outputSchema);
    const schema = outputSchema === undefined ? undefined : JSON.stringify(outputSchema);
    const outcome = await this.#thread.run({ result: JSON.stringify(result), outputSchema: schema, maxBytes, checked });
    if (outcome.kind === "exceeded") {
      if (outputSchema !== undefined) this.#costly.add(outputSchema);
      const key = `analysis.${outcome.limit}`;
      return { reason: `checking it against its schema took more than ${key} (${this.#limits()[outcome.limit]})` };
    }
    return typeof outcome.answer === "string" ? (JSON.parse(outcome.answer) as TruncatedResult) : outcome.answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }
}
