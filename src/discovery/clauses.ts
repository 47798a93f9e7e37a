const MAX_CLAUSES = 12;
const FEWEST_WORDS = 3;
const BOUNDARY = /(?<=[.!?;])\s+|\n+|,?\s+(?:and\s+)?then\s+|,\s+and\s+|\s*(?:^|\s)\d+[.)]\s+/i;

/** Splits a mission into its steps; empty if it has only one. */
export function splitClauses(text: string): string[] {
  const clauses = text
    .split(BOUNDARY)
    .map((clause) => clause.trim())
    .filter((clause) => clause.split(/\s+/).length >= FEWEST_WORDS);
  return clauses.length < 2 ? [] : clauses.slice(0, MAX_CLAUSES);
}
