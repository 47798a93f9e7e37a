import { normalise } from "./embedding/embedder.ts";

/** How far one confirmed use moves a vector towards what it was used for. */
const INTENT_WEIGHT = 0.5;

/** More would pull what is used often in front of everything else. */
export const MOST_INTENTS = 8;

/** The vector of a document, moved by the intents of uses that went well. */
export function learnedVector(own: Float32Array, intents: readonly Float32Array[]): Float32Array {
  if (intents.length === 0) return own;
  const sum = Float32Array.from(own);
  for (const intent of intents) {
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + INTENT_WEIGHT * (intent[at] ?? 0);
  }
  return normalise(sum);
}
