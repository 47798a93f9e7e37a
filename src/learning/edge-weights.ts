export type EdgeType = "dependency" | "contains" | "sequence" | "provides";

/** Evidence for an edge: compatible schemas, a program's text, or runs. */
export type EdgeSource = "template" | "inferred" | "observed";

/** Weights by type: a declared dependency counts more than mere succession. */
export const EDGE_TYPE_WEIGHTS: Readonly<Record<EdgeType, number>> = {
  dependency: 1,
  contains: 0.8,
  provides: 0.7,
  sequence: 0.5,
};

/** Confidence grows from compatible schemas over program text to each observed run. */
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

/** Weight from 0 to 1: type times confidence. */
export function edgeWeight(type: EdgeType, source: EdgeSource, observed: number): number {
  return EDGE_TYPE_WEIGHTS[type] * edgeConfidence(source, observed);
}
