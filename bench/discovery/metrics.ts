import type { DatasetQuery } from "./dataset.ts";

/** Quality of ranked lists, each figure from 0 to 1. */
export interface Quality {
  readonly r1: number;
  readonly r5: number;
  readonly r10: number;
  readonly ndcg10: number;
  readonly mrr: number;
}

const MEASURES = ["r1", "r5", "r10", "ndcg10", "mrr"] as const;
const DEEPEST = 100;

export function measureList(ranked: readonly string[], { relevant }: Pick<DatasetQuery, "relevant">): Quality {
  const wanted = new Set(relevant);
  const places = [...new Set(ranked)].slice(0, DEEPEST).flatMap((id, at) => (wanted.has(id) ? [at + 1] : []));
  const within = (depth: number): number => places.filter((place) => place <= depth).length / wanted.size;
  const gain = places.filter((place) => place <= 10).reduce((sum, place) => sum + 1 / Math.log2(place + 1), 0);
  const best = Array.from({ length: Math.min(10, wanted.size) }, (_, at) => 1 / Math.log2(at + 2));
  return {
    r1: within(1),
    r5: within(5),
    r10: within(10),
    ndcg10: gain / best.reduce((sum, each) => sum + each, 0),
    mrr: places[0] === undefined ? 0 : 1 / places[0],
  };
}

export function average(all: readonly Quality[]): Quality {
  const mean = (measure: (typeof MEASURES)[number]): number =>
    all.reduce((sum, each) => sum + each[measure], 0) / Math.max(1, all.length);
  return { r1: mean("r1"), r5: mean("r5"), r10: mean("r10"), ndcg10: mean("ndcg10"), mrr: mean("mrr") };
}
