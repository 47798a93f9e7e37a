import { contentHash } from "../base/content-hash.ts";
import type { JsonValue } from "../base/json.ts";
import type { Effect, EffectHints } from "./effect.ts";

export type Decision = "allow" | "ask" | "deny";
export type Routing = "local" | "cloud";

/** Where a decision comes from: `file:line`, a key of the configuration, the tool's own hints, or a rule a person left. */
export interface DecisionSource {
  readonly kind: "file" | "config" | "default" | "remembered";
  readonly at: string;
}

/** What is known of a tool that a program may call. */
export interface PlannedTool {
  /** `server:tool`. */
  readonly id: string;
  /** Of its whole definition: a tool that changed under its name is another tool. */
  readonly schemaHash: string;
  readonly annotations?: EffectHints | undefined;
  /** Where its server runs, when no rule says. */
  readonly routing?: Routing | undefined;
}

/** Who wants to run what. */
export interface PlanContext {
  readonly principal: string;
  readonly codeHash: string;
  /** Calls whose tool is known only when the program runs, as they stand in it: they always need a person. */
  readonly dynamicCalls?: readonly string[] | undefined;
}

export interface ToolVerdict {
  readonly tool: string;
  readonly schemaHash: string;
  readonly decision: Decision;
  readonly effect: Effect;
  readonly routing: Routing;
  /** Why, for people. */
  readonly reason: string;
  readonly source: DecisionSource;
  /** Whether a person may allow it for this program once and for all. */
  readonly rememberable: boolean;
}

/** The strictest of its tools' decisions, and each of them. */
export interface PlanVerdict {
  readonly decision: Decision;
  readonly tools: readonly ToolVerdict[];
  /** Why the plan is not simply allowed, one sentence each. */
  readonly reasons: readonly string[];
}

/** Everything an approval is good for. Whatever differs in it needs a new one. */
export interface BoundPlan {
  readonly principal: string;
  readonly codeHash: string;
  /** The arguments the person was shown. */
  readonly input?: JsonValue | undefined;
  readonly verdict: PlanVerdict;
}

/** Identifies what was approved, whatever the order of its tools. */
export function bindingHash({ principal, codeHash, input, verdict }: BoundPlan): string {
  const tools = verdict.tools.map(({ tool, schemaHash, effect }) => [tool, { schemaHash, effect }]);
  return contentHash({ principal, codeHash, input: input ?? null, tools: Object.fromEntries(tools) });
}
