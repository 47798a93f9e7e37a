import { contentHash } from "../base/content-hash.ts";
import type { JsonValue } from "../base/json.ts";
import type { Routing } from "../registry/record.ts";
import type { Effect, EffectHints } from "./effect.ts";

export type Decision = "allow" | "ask" | "deny";

/** Origin of a decision: `file:line`, a configuration key, the tool's annotations, or a remembered rule. */
export interface DecisionSource {
  readonly kind: "file" | "config" | "default" | "remembered";
  readonly at: string;
}

/** A tool that a program may call. */
export interface PlannedTool {
  /** `server:tool`. */
  readonly id: string;
  /** Hash of the whole definition: a changed tool needs a new decision. */
  readonly schemaHash: string;
  readonly annotations?: EffectHints | undefined;
  /** Where its server runs, if no rule sets it. */
  readonly routing?: Routing | undefined;
}

/** The program and principal of a plan. */
export interface PlanContext {
  readonly principal: string;
  readonly codeHash: string;
  /** Source text of calls whose tool is computed at run time; they always need a person. */
  readonly dynamicCalls?: readonly string[] | undefined;
}

export interface ToolVerdict {
  readonly tool: string;
  readonly schemaHash: string;
  readonly decision: Decision;
  readonly effect: Effect;
  readonly routing: Routing;
  /** Reason for people. */
  readonly reason: string;
  readonly source: DecisionSource;
  /** True if a person may allow it to this program for good. */
  readonly rememberable: boolean;
}

/** The strictest decision over all tools, and each tool's own. */
export interface PlanVerdict {
  readonly decision: Decision;
  readonly tools: readonly ToolVerdict[];
  /** Reasons why the plan is not simply allowed. */
  readonly reasons: readonly string[];
}

/** Everything an approval is bound to; any difference needs a new approval. */
export interface BoundPlan {
  readonly principal: string;
  readonly codeHash: string;
  /** The arguments that the person was shown. */
  readonly input?: JsonValue | undefined;
  readonly verdict: PlanVerdict;
}

/** Hash of the approved plan, independent of the order of its tools. */
export function bindingHash({ principal, codeHash, input, verdict }: BoundPlan): string {
  const tools = verdict.tools.map(({ tool, schemaHash, effect }) => [tool, { schemaHash, effect }]);
  return contentHash({ principal, codeHash, input: input ?? null, tools: Object.fromEntries(tools) });
}
