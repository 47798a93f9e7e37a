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

/** A tool that a version of a capability may call. */
export interface PermittedTool {
  readonly tool: string;
  readonly effect: Effect;
  /** `rule` covers trusted annotations as well; `person` is an approval. */
  readonly allowedBy: "rule" | "person";
}

/** All tools that a version may call; empty until it was allowed any. */
export type PermissionSet = readonly PermittedTool[];
