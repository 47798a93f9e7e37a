import { claimedEffect, moreSevere } from "../../permissions/effect.ts";
import { findAccepted, type PastChange } from "./lowered-effect.ts";

/** Changes of one tool that are kept without a look at them. */
const MOST_CHANGES = 10;
const RECENT = 5;

/**
 * Finds changes of a tool that no decision needs any more, so that a server that changes without end fills no table. Kept
 * are the first, which has the definition that counted as accepted; those a person decided; the last accepted one; the
 * most severe effect since a person accepted a definition; and the latest few.
 */
export function findObsolete(history: readonly (PastChange & { readonly id: string })[]): string[] {
  if (history.length <= MOST_CHANGES) return [];
  const since = history.slice(findAccepted(history) + 1);
  const effects = since.map(({ before }) => claimedEffect(before));
  const severest = since[effects.indexOf(effects.reduce(moreSevere, "read"))];
  const accepted = history.findLast(({ verdict }) => verdict === "accepted");
  const kept = new Set([history[0], severest, accepted, ...history.slice(-RECENT)]);
  return history.filter((change) => !change.byPerson && !kept.has(change)).map(({ id }) => id);
}
