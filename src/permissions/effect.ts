/** Effects of a call, from harmless to irreversible. */
export const EFFECTS = ["read", "idempotent", "write", "destructive"] as const;
export type Effect = (typeof EFFECTS)[number];

/** The annotations of a tool that claim its effect, as MCP names them. Servers may send anything in their place. */
export interface EffectClaims {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
}

/** The claims of a tool, and whether a person believes its server. */
export interface EffectHints extends EffectClaims {
  /** Absent counts as no: a claim that nobody confirmed lowers nothing. */
  readonly believed?: boolean | undefined;
  /** Its server says nothing, and everything about it says that it only reads: a person may confirm that, or has. */
  readonly seemsToRead?: "proposed" | "confirmed" | undefined;
}

/** Picks the claims out of annotations, which may also say that they are believed. */
export function readHints(annotations: EffectClaims | null | undefined, believed: boolean): EffectHints {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations ?? {};
  return { readOnlyHint, destructiveHint, idempotentHint, believed };
}

/** Derives the claimed effect from annotations, with MCP's defaults for missing ones: not read-only, destructive. */
export function claimedEffect(claims: EffectClaims | null | undefined): Effect {
  if (claims?.readOnlyHint === true) return "read";
  if (claims?.destructiveHint !== false) return "destructive";
  return claims.idempotentHint === true ? "idempotent" : "write";
}

/** The effect that counts: until a person believes the server, its tools change something at least. */
export function effectOf(hints: EffectHints | undefined): Effect {
  if (hints?.seemsToRead === "confirmed") return "read";
  const claimed = claimedEffect(hints);
  return hints?.believed === true ? claimed : moreSevere(claimed, "write");
}

export function isLess(a: Effect, b: Effect): boolean {
  return EFFECTS.indexOf(a) < EFFECTS.indexOf(b);
}

export function moreSevere(a: Effect, b: Effect): Effect {
  return isLess(a, b) ? b : a;
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
