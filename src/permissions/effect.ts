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
  /** A rule or a tool's believed hints, or a person who was asked. */
  readonly allowedBy: "rule" | "person";
}

/** Everything a version may call, by tool. Empty: nothing, which is the minimum. */
export type PermissionSet = readonly PermittedTool[];
