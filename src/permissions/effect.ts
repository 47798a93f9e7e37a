/** What a call may do, from harmless to irreversible. */
export const EFFECTS = ["read", "idempotent", "write", "destructive"] as const;
export type Effect = (typeof EFFECTS)[number];

/** The hints of a tool's definition that matter here, as MCP names them. */
export interface EffectHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
}

/** What a tool's own hints claim. What they leave open counts as MCP says it does: not read-only, destructive. */
export function effectOf(hints: EffectHints = {}): Effect {
  if (hints.readOnlyHint === true) return "read";
  if (hints.destructiveHint !== false) return "destructive";
  return hints.idempotentHint === true ? "idempotent" : "write";
}

export function moreSevere(a: Effect, b: Effect): Effect {
  return EFFECTS.indexOf(a) > EFFECTS.indexOf(b) ? a : b;
}
