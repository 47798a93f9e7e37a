import type { BoundText } from "./binding.ts";
import type { Decision, PlannedTool, PlanVerdict } from "./plan.ts";
import { decide, type FittingRule, type RuleSet } from "./rule-model.ts";

/** Decides the plan as a whole: one denied tool denies it, one that asks makes it ask. */
export function decidePlan(
  rules: RuleSet,
  tools: readonly PlannedTool[],
  dynamicCalls: readonly BoundText[],
  remembered: readonly FittingRule[] = [],
): PlanVerdict {
  const verdicts = tools.map((tool) => decide(rules, tool, { remembered }));
  if (rules.kind === "broken") {
    return { decision: "deny", tools: verdicts, reasons: [rules.error.message] };
  }
  const decisions = new Set<Decision>(verdicts.map(({ decision }) => decision));
  const asks = decisions.has("ask") || dynamicCalls.length > 0;
  const reasons = verdicts
    .filter(({ decision }) => decision !== "allow")
    .map(({ tool, reason }) => `${tool}: ${reason}`);
  const computed = dynamicCalls.map(({ text }) => `${text}: the tool it calls is computed at run time`);
  return {
    decision: decisions.has("deny") ? "deny" : asks ? "ask" : "allow",
    tools: verdicts,
    reasons: [...reasons, ...computed],
  };
}
