import { claimedEffect, type Effect, type EffectClaims, isLess, moreSevere } from "../../permissions/effect.ts";
import type { Verdict } from "./review-store.ts";

/** A change of a tool's definition, with the annotations before and after it. */
export interface PastChange {
  readonly hash: string;
  readonly before: EffectClaims | null;
  readonly after: EffectClaims | null;
  readonly verdict: Verdict | null;
  /** True if a person decided, and not the policy. */
  readonly byPerson: boolean;
}

/** The effect that a tool claims now, and the more severe one it had since a person last accepted it. */
export interface LoweredEffect {
  readonly before: Effect;
  readonly after: Effect;
}

/**
 * Finds out whether the last of the changes lowers the claimed effect. Compares it with the most severe effect since a
 * person accepted a definition: neither small steps nor a detour over a harmless one gets below it.
 */
export function findLowered(history: readonly PastChange[]): LoweredEffect | undefined {
  const since = history.slice(findAccepted(history) + 1);
  const last = since.at(-1);
  if (last === undefined) return undefined;
  const before = since.map((change) => claimedEffect(change.before)).reduce(moreSevere);
  const after = claimedEffect(last.after);
  return isLess(after, before) ? { before, after } : undefined;
}

/** Position of the last definition that a person accepted; −1 if there is none. */
export function findAccepted(history: readonly PastChange[]): number {
  return history.findLastIndex(({ verdict, byPerson }) => verdict === "accepted" && byPerson);
}
