import { AnalysisThread } from "../../src/analysis/analysis-thread.ts";
import { canonical } from "../../src/base/canonical.ts";
import { findClosest } from "../../src/base/closest.ts";
import type { ThreadLimits } from "../../src/base/budgeted-thread.ts";
import { createUriMatcher } from "../../src/catalogue/uri-template.ts";
import { executeRequest } from "../../src/contract/execute.ts";
import { FitThread } from "../../src/gateway/results/fit-thread.ts";
import { toTypeText } from "../../src/learning/schema-type.ts";
import { parseText } from "../../src/mcp/transport/parse-message.ts";
import { createPattern } from "../../src/permissions/tool-pattern.ts";
import { diffSchemas } from "../../src/registry/diff/schema-diff.ts";
import type { HostileInput } from "./hostile-inputs.ts";

/** How an input ended: worked on, refused for what it is, or stopped by a limit that has this name. */
export type Ending = "done" | "refused" | `limit ${string}`;

const noTools = { version: 1, findTool: () => undefined };

/** The parts of the daemon that meet input of others, as it composes them. */
export class Targets implements AsyncDisposable {
  readonly #analysis: AnalysisThread;
  readonly #results: FitThread;

  constructor(limits: ThreadLimits) {
    this.#analysis = new AnalysisThread(() => ({ ...limits, maxOutputBytes: 1024 * 1024 }));
    this.#results = new FitThread(() => limits);
  }

  async meet(input: HostileInput): Promise<Ending> {
    if (input.kind === "program") {
      const outcome = await this.#analysis.analyse(input.code, noTools);
      if (outcome.kind === "limit") return `limit ${outcome.limit}`;
      return outcome.kind === "program" ? "done" : "refused";
    }
    if (input.kind !== "result") return meetInThread(input);
    const result = { content: [], structuredContent: input.value };
    const cut = await this.#results.cut({ result, outputSchema: input.schema, maxBytes: 75_000 });
    return "reason" in cut ? `limit ${cut.reason}` : "done";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#analysis[Symbol.asyncDispose]();
    await this.#results[Symbol.asyncDispose]();
  }
}

function meetInThread(input: Exclude<HostileInput, { kind: "program" | "result" }>): Ending {
  switch (input.kind) {
    case "template":
      return createUriMatcher(input.template)(input.uri) ? "done" : "refused";
    case "message": {
      const parsed = parseText(input.text);
      if (parsed.kind === "refused")
        return parsed.message.includes("more than") ? `limit ${parsed.message}` : "refused";
      canonical(parsed.value);
      return executeRequest.safeParse({ intent: "x", args: { x: parsed.value } }).success ? "done" : "refused";
    }
    case "name":
      findClosest(input.name, [input.pattern, input.name]);
      return createPattern(input.pattern).matches(input.name) ? "done" : "refused";
    case "schema":
    default:
      toTypeText(input.schema);
      return diffSchemas(input.schema, { ...input.schema, enum: ["other"] }).length > 0 ? "done" : "refused";
  }
}
