/** Effects of a call, from harmless to irreversible. */
export const EFFECTS = ["read", "idempotent", "write", "destructive"] as const;
export type Effect = (typeof EFFECTS)[number];

/** The tool annotations that determine the effect, as MCP names them. */
export interface EffectHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
}

/** Derives the effect from annotations, with MCP's defaults for missing ones: not read-only, destructive. */
export function effectOf(hints: EffectHints = {}): Effect {
  if (hints.readOnlyHint === true) return "read";
  if (hints.destructiveHint !== false) return "destructive";
  return hints.idempotentHint === true ? "idempotent" : "write";
}

export function moreSevere(a: Effect, b: Effect): Effect {
  return EFFECTS.indexOf(a) > EFFECTS.indexOf(b) ? a : b;
}
