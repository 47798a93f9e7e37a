/** How two tools or capabilities belong together. */
export type EdgeType = "dependency" | "contains" | "sequence" | "provides";

/** How it is known: from schemas that fit, from a program's text, or from runs. */
export type EdgeSource = "template" | "inferred" | "observed";

/** What a connection is worth by its kind: what was declared counts more than what merely came one after the other. */
export const EDGE_TYPE_WEIGHTS: Readonly<Record<EdgeType, number>> = {
  dependency: 1,
  contains: 0.8,
  provides: 0.7,
  sequence: 0.5,
};

/** Schemas that fit say little, a program that connects the two more, and each run that did more still. */
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

/** From 0 to 1: the kind of a connection and how sure it is. */
export function edgeWeight(type: EdgeType, source: EdgeSource, observed: number): number {
  return EDGE_TYPE_WEIGHTS[type] * edgeConfidence(source, observed);
}
