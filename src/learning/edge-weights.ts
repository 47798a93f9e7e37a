/** How two tools or capabilities belong together. */
export type EdgeType = "dependency" | "contains" | "sequence" | "provides";

/** How it is known: from schemas that fit, from a program's text, or from runs. */
export type EdgeSource = "template" | "inferred" | "observed";

/** Worth of a connection by its type: a declared one counts more than one that merely happened in sequence. */
export const EDGE_TYPE_WEIGHTS: Readonly<Record<EdgeType, number>> = {
  dependency: 1,
  contains: 0.8,
  provides: 0.7,
  sequence: 0.5,
};

/** Rates the evidence for a connection: schemas that fit say little, a program more, and every further run more still. */
export function edgeConfidence(source: EdgeSource, observed: number): number {
  switch (source) {
    case "template":
      return 0.3;
    case "inferred":
      return 0.5;
    case "observed":
    default:
      return Math.max(0.5, observed / (observed + 1));
  }
}

/** Weighs a connection by its type and its confidence, from 0 to 1. */
export function edgeWeight(type: EdgeType, source: EdgeSource, observed: number): number {
  return EDGE_TYPE_WEIGHTS[type] * edgeConfidence(source, observed);
}
