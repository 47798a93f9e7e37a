import type { ErrorReport } from "../base/errors.ts";
import { type Effect, effectOf, moreSevere } from "./effect.ts";
import type { Decision, DecisionSource, PlannedTool, Routing, ToolVerdict } from "./plan.ts";
import type { ToolPattern } from "./tool-pattern.ts";

/** One thing that somebody wrote down about some tools. */
interface Statement<T> {
  readonly pattern: ToolPattern;
  readonly value: T;
  readonly source: DecisionSource;
  /** Tools for which the same entry says something of its own. */
  readonly except?: readonly ToolPattern[];
}

/** Permissions file and configuration as one model. In whatever order it was written, it means the same. */
export interface Rules {
  readonly decisions: readonly Statement<Decision>[];
  readonly effects: readonly Statement<Effect>[];
  readonly routings: readonly Statement<Routing>[];
  /** What a server is there for, in its owner's words; one that is there for reading may only be read. */
  readonly scopes: readonly Statement<string>[];
}

export type RuleSet =
  | { readonly kind: "usable"; readonly rules: Rules }
  /** Something could not be read. Nobody knows what it would have forbidden, so nothing is permitted. */
  | { readonly kind: "broken"; readonly error: ErrorReport; readonly source: DecisionSource };

export const NO_RULES: Rules = { decisions: [], effects: [], routings: [], scopes: [] };

export function joinRules(all: readonly Rules[]): Rules {
  return {
    decisions: all.flatMap(({ decisions }) => decisions),
    effects: all.flatMap(({ effects }) => effects),
    routings: all.flatMap(({ routings }) => routings),
    scopes: all.flatMap(({ scopes }) => scopes),
  };
}

/** A rule that a person left and that fits program and principal; the tool is still to be compared. */
export interface FittingRule {
  readonly id: string;
  readonly tool: string;
  readonly schemaHash: string;
}

export interface DecisionContext {
  readonly remembered: readonly FittingRule[];
}

/** Deny beats ask beats allow, however specific. Where no rule decides, the tool's effect does. */
export function decide(set: RuleSet, tool: PlannedTool, context: DecisionContext): ToolVerdict {
  if (set.kind === "broken") return denyBroken(set, tool);
  const { rules } = set;
  const effect = findEffect(rules, tool);
  const verdict = decideByRules(rules, tool.id, effect) ?? decideByEffect(effect, tool, context);
  const routing = findRouting(set, tool.id) ?? tool.routing ?? "cloud";
  return { tool: tool.id, schemaHash: tool.schemaHash, effect: effect.value, routing, ...verdict };
}

/** Where a tool runs, as far as somebody wrote it down. */
export function findRouting(set: RuleSet, toolId: string): Routing | undefined {
  return set.kind === "broken" ? undefined : mostSpecific(set.rules.routings, toolId, preferLocal)?.value;
}

type Verdict = Pick<ToolVerdict, "decision" | "reason" | "source" | "rememberable">;
type FoundEffect = { readonly value: Effect; readonly words: string };

const STRICTNESS: readonly Decision[] = ["allow", "ask", "deny"];

function decideByRules(rules: Rules, toolId: string, effect: FoundEffect): Verdict | undefined {
  const closed = closedScope(rules, toolId, effect);
  if (closed !== undefined) return closed;
  const strictest = matching(rules.decisions, toolId)
    .toSorted((a, b) => STRICTNESS.indexOf(b.value) - STRICTNESS.indexOf(a.value))
    .at(0);
  if (strictest === undefined) return undefined;
  const { value: decision, source, pattern } = strictest;
  const said = { allow: "allowed", ask: "a person is asked every time", deny: "denied" }[decision];
  return { decision, source, reason: `${said}: "${pattern.text}" in ${source.at}`, rememberable: false };
}

const READING: ReadonlySet<string> = new Set(["readonly", "read-only", "read"]);

function closedScope(rules: Rules, toolId: string, effect: FoundEffect): Verdict | undefined {
  if (effect.value === "read") return undefined;
  const closed = matching(rules.scopes, toolId).find(({ value }) => READING.has(value.toLowerCase()));
  if (closed === undefined) return undefined;
  const reason = `denied: its scope is "${closed.value}" in ${closed.source.at}, and it ${effect.words}`;
  return { decision: "deny", source: closed.source, reason, rememberable: false };
}

function decideByEffect(effect: FoundEffect, tool: PlannedTool, { remembered }: DecisionContext): Verdict {
  const source: DecisionSource = { kind: "default", at: "the tool's effect" };
  const { value, words } = effect;
  if (value === "read") return { decision: "allow", source, reason: `it ${words}`, rememberable: false };
  if (value === "destructive") return { decision: "ask", source, reason: `it ${words}`, rememberable: false };
  const rule = remembered.find(({ tool: id, schemaHash }) => id === tool.id && schemaHash === tool.schemaHash);
  if (rule === undefined) return { decision: "ask", source, reason: `it ${words}`, rememberable: true };
  return {
    decision: "allow",
    source: { kind: "remembered", at: rule.id },
    reason: `it ${words}, which a person has allowed for this program (${rule.id})`,
    rememberable: false,
  };
}

const EFFECT_WORDS: Readonly<Record<Effect, string>> = {
  read: "only reads",
  idempotent: "changes something, once however often it is called",
  write: "changes something",
  destructive: "may overwrite or delete something",
};

function findEffect(rules: Rules, tool: PlannedTool): FoundEffect {
  const written = mostSpecific(rules.effects, tool.id, moreSevere);
  if (written !== undefined) {
    return { value: written.value, words: `${EFFECT_WORDS[written.value]} (${written.source.at})` };
  }
  const value = effectOf(tool.annotations);
  const silent = tool.annotations?.readOnlyHint === undefined && tool.annotations?.destructiveHint === undefined;
  const who = silent ? "its server does not say what it does" : "its server says so";
  return { value, words: `${EFFECT_WORDS[value]} (${who})` };
}

function matching<T>(statements: readonly Statement<T>[], toolId: string): Statement<T>[] {
  return statements.filter(
    ({ pattern, except = [] }) => pattern.matches(toolId) && !except.some((other) => other.matches(toolId)),
  );
}

/** Where a value and not a permission is looked up, the nearest counts; of equally near ones the safer. */
function mostSpecific<T>(
  statements: readonly Statement<T>[],
  toolId: string,
  safer: (a: T, b: T) => T,
): Statement<T> | undefined {
  return matching(statements, toolId).reduce<Statement<T> | undefined>((best, next) => {
    if (best === undefined || next.pattern.specificity > best.pattern.specificity) return next;
    if (next.pattern.specificity < best.pattern.specificity) return best;
    return safer(best.value, next.value) === best.value ? best : next;
  }, undefined);
}

function preferLocal(a: Routing, b: Routing): Routing {
  return a === "local" ? a : b;
}

function denyBroken({ error, source }: Extract<RuleSet, { kind: "broken" }>, tool: PlannedTool): ToolVerdict {
  return {
    tool: tool.id,
    schemaHash: tool.schemaHash,
    decision: "deny",
    effect: effectOf(tool.annotations),
    routing: tool.routing ?? "cloud",
    reason: `denied: ${error.message}`,
    source,
    rememberable: false,
  };
}
