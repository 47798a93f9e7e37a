import { normalise } from "./embedding/encoder/unit-vector.ts";

/** Weight of one confirmed use. */
const INTENT_WEIGHT = 0.8;

/** More would pull frequently used documents ahead of everything else. */
export const MAX_INTENTS = 8;

/** With fewer intents the mean says more about them than about requests in general. */
const FEWEST_FOR_MIDDLE = 20;

/**
 * Moves a document's vector towards the intents of its successful uses. All intents resemble each other as requests:
 * `typical` is that common direction, and the vector keeps its component along it. Otherwise used documents would
 * come closer to every request, and unused ones would fall behind.
 */
export function learnedVector(
  own: Float32Array,
  intents: readonly Float32Array[],
  typical: Float32Array | undefined,
): Float32Array {
  if (intents.length === 0) return own;
  const sum = Float32Array.from(own);
  for (const intent of intents) {
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + INTENT_WEIGHT * (intent[at] ?? 0);
  }
  const moved = normalise(sum);
  if (typical === undefined) return moved;
  const shift = product(own, typical) - product(moved, typical);
  return moved.map((value, at) => value + shift * (typical[at] as number));
}

/** The direction that requests have in common. */
export function typicalIntent(intents: readonly Float32Array[]): Float32Array | undefined {
  const [first] = intents;
  if (first === undefined || intents.length < FEWEST_FOR_MIDDLE) return undefined;
  const sum = new Float32Array(first.length);
  for (const intent of intents) {
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] as number) + (intent[at] as number);
  }
  return normalise(sum);
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
