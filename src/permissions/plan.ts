import type { Routing } from "../registry/record.ts";
import type { Binding } from "./binding.ts";
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

/** A plan after the rules judged it: the verdict, and what an approval of it would bind. */
export interface JudgedPlan {
  readonly binding: Binding;
  readonly verdict: PlanVerdict;
}
