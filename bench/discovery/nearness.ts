import { tokenizerPath } from "../../src/discovery/embedding/minilm-embedder.ts";
import { readStaticEmbedder } from "../../src/discovery/embedding/static-embedder.ts";
import { readWordpiece } from "../../src/discovery/embedding/wordpiece.ts";
import { fitWeights, leadOver, probability, toFeatures } from "../../src/discovery/recall/confidence.ts";
import type { Random } from "../../test/support/random.ts";
import type { DatasetQuery } from "./dataset.ts";

/** The cosine of two texts, as suggestions compare intents. */
export type Nearness = (a: string, b: string) => number;

export function createNearness(): Nearness {
  const table = readStaticEmbedder(readWordpiece(tokenizerPath));
  const vectors = new Map<string, Float32Array>();
  const embed = (text: string): Float32Array => {
    const vector = vectors.get(text) ?? table.embed(text);
    vectors.set(text, vector);
    return vector;
  };
  return (a, b) => {
    const other = embed(b);
    return embed(a).reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
  };
}

/** Intents each capability was used for; a tool stands for each capability. */
export type IntentMemory = ReadonlyMap<string, readonly DatasetQuery[]>;

export interface Guess {
  /** Nearest first. */
  readonly tools: readonly string[];
  readonly nearness: number;
  readonly confidence: number;
}

const SHIPPED = fitWeights([]);
/** Score of a capability per unit of the cosine, without what its tools add. */
const WITH_CENTROID = 1.5;

/** Guesses the capability as `pml_execute` does for an intent without code. */
export function guess(memory: IntentMemory, text: string, nearness: Nearness): Guess {
  const near = [...memory]
    .map(([tool, intents]) => ({ tool, at: Math.max(...intents.map((each) => nearness(text, each.text))) }))
    .toSorted((a, b) => b.at - a.at);
  const [best, next] = near;
  const similarity = best?.at ?? 0;
  const support = memory.get(best?.tool ?? "")?.length ?? 0;
  const lead = leadOver(WITH_CENTROID * similarity, next && WITH_CENTROID * next.at);
  const features = toFeatures({ similarity, lead, likelihood: 0, consumed: 1, support });
  return {
    tools: near.map(({ tool }) => tool),
    nearness: similarity,
    confidence: near.length === 0 ? 0 : probability(SHIPPED, features),
  };
}

export function toolOf({ relevant }: DatasetQuery): string {
  return relevant[0] ?? "";
}

export function sample<T>(items: readonly T[], count: number, random: Random): T[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, items.length) }, () => {
    const at = random.between(0, left.length - 1);
    const picked = left[at] as T;
    left[at] = left.at(-1) as T;
    left.pop();
    return picked;
  });
}
