import type { ErrorReport } from "../base/errors.ts";
import { parseToolId } from "../catalogue/tool-id.ts";
import { claimedEffect, type Effect, effectOf, moreSevere } from "./effect.ts";
import type { Decision, DecisionSource, PlannedTool, ToolVerdict } from "./plan.ts";
import type { Routing } from "../registry/record.ts";
import type { ToolPattern } from "./tool-pattern.ts";

/** One value set for tools that match a pattern. */
interface Statement<T> {
  readonly pattern: ToolPattern;
  readonly value: T;
  readonly source: DecisionSource;
  /** Tools with a value of their own in the same entry. */
  readonly except?: readonly ToolPattern[];
}

/** Rules of the permissions files and the configuration. Their order has no meaning. */
export interface Rules {
  readonly decisions: readonly Statement<Decision>[];
  readonly effects: readonly Statement<Effect>[];
  readonly routings: readonly Statement<Routing>[];
  /** Scope of a server in its owner's words; a read-only scope permits only reading tools. */
  readonly scopes: readonly Statement<string>[];
}

export type RuleSet =
  | { readonly kind: "usable"; readonly rules: Rules }
  /** Unreadable rules might have forbidden anything, so nothing is permitted. */
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

/**
 * Keeps the rules that only forbid or ask, for files that may not permit. An effect or a routing could lower what another
 * source says, so none is kept.
 */
export function tighten({ decisions, scopes }: Rules): Rules {
  return {
    decisions: decisions.filter(({ value }) => value !== "allow"),
    effects: [],
    routings: [],
    scopes: scopes.filter(({ value }) => READING.has(value.toLowerCase())),
  };
}

/** A remembered rule for the program and principal; its tool is not compared yet. */
export interface FittingRule {
  readonly id: string;
  readonly tool: string;
  readonly schemaHash: string;
}

export interface DecisionContext {
  readonly remembered: readonly FittingRule[];
}

/** Deny beats ask beats allow, at any specificity. Without a matching rule, the tool's effect decides. */
export function decide(set: RuleSet, tool: PlannedTool, context: DecisionContext): ToolVerdict {
  if (set.kind === "broken") return denyBroken(set, tool);
  const { rules } = set;
  const effect = findEffect(rules, tool);
  const verdict = decideByRules(rules, tool.id, effect) ?? decideByEffect(effect, tool, context);
  const routing = findRouting(set, tool.id) ?? tool.routing ?? "cloud";
  return { tool: tool.id, schemaHash: tool.schemaHash, effect: effect.value, routing, ...verdict };
}

/** Routing of a tool, if a rule sets it. */
export function findRouting(set: RuleSet, toolId: string): Routing | undefined {
  return set.kind === "broken" ? undefined : mostSpecific(set.rules.routings, toolId, preferLocal)?.value;
}

type RuleVerdict = Pick<ToolVerdict, "decision" | "reason" | "source" | "rememberable">;
type FoundEffect = { readonly value: Effect; readonly words: string };

const STRICTNESS: readonly Decision[] = ["allow", "ask", "deny"];

function decideByRules(rules: Rules, toolId: string, effect: FoundEffect): RuleVerdict | undefined {
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

function closedScope(rules: Rules, toolId: string, effect: FoundEffect): RuleVerdict | undefined {
  if (effect.value === "read") return undefined;
  const closed = matching(rules.scopes, toolId).find(({ value }) => READING.has(value.toLowerCase()));
  if (closed === undefined) return undefined;
  const reason = `denied: its scope is "${closed.value}" in ${closed.source.at}, and it ${effect.words}`;
  return { decision: "deny", source: closed.source, reason, rememberable: false };
}

function decideByEffect(effect: FoundEffect, tool: PlannedTool, { remembered }: DecisionContext): RuleVerdict {
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
  idempotent: "changes something; calling it again changes nothing more",
  write: "changes something",
  destructive: "may overwrite or delete something",
};

function findEffect(rules: Rules, tool: PlannedTool): FoundEffect {
  const written = mostSpecific(rules.effects, tool.id, moreSevere);
  if (written !== undefined) {
    return { value: written.value, words: `${EFFECT_WORDS[written.value]} (${written.source.at})` };
  }
  const value = effectOf(tool.annotations);
  return { value, words: `${EFFECT_WORDS[value]} (${describeSource(tool, value)})` };
}

function describeSource({ id, annotations }: PlannedTool, value: Effect): string {
  if (annotations?.seemsToRead === "confirmed") return "a person confirmed that, its server says nothing";
  if (annotations?.seemsToRead === "proposed")
    return `its server does not say what it does, its name and text do: it only reads; to confirm that: pml hints ${parseToolId(id).server} --trust`;
  if (annotations?.readOnlyHint === undefined && annotations?.destructiveHint === undefined)
    return "its server does not say what it does";
  const claimed = claimedEffect(annotations);
  if (claimed === value) return "its server says so";
  return `its server says that it ${EFFECT_WORDS[claimed]}; to believe that: pml hints ${parseToolId(id).server} --trust`;
}

function matching<T>(statements: readonly Statement<T>[], toolId: string): Statement<T>[] {
  return statements.filter(
    ({ pattern, except = [] }) => pattern.matches(toolId) && !except.some((other) => other.matches(toolId)),
  );
}

/** Picks the most specific value, and the safer one of a tie. For values, not for permissions. */
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
