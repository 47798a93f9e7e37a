import { editDistance } from "./edit-distance.ts";

/** Longer words are not compared: the time grows with the square of their length. */
const LONGEST_WORD = 200;

/** Finds the known word nearest to a mistyped one, if it is near enough to be meant. */
export function findClosest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const limit = Math.max(2, Math.floor(word.length / 3));
  const ranked = known
    // before anything else: a word of a megabyte must not be compared letter by letter with every known one
    .filter((candidate) => Math.abs(candidate.length - word.length) <= limit)
    .map((candidate) => ({
      candidate,
      distance: editDistance(word.toLowerCase(), candidate.toLowerCase(), limit),
    }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}
