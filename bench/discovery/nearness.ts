import { tokenizerPath } from "../../src/discovery/embedding/minilm-embedder.ts";
import { readStaticEmbedder } from "../../src/discovery/embedding/static-embedder.ts";
import { readWordpiece } from "../../src/discovery/embedding/wordpiece.ts";
import { intentConfidence } from "../../src/discovery/intent-confidence.ts";
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

/** Guesses the capability as `pml_execute` does for an intent without code. */
export function guess(memory: IntentMemory, text: string, nearness: Nearness): Guess {
  const near = [...memory]
    .map(([tool, intents]) => ({ tool, at: Math.max(...intents.map((each) => nearness(text, each.text))) }))
    .toSorted((a, b) => b.at - a.at);
  const [best, next] = near;
  const signals = { nearness: best?.at ?? 0, nextNearness: next?.at ?? 0, pool: near.length };
  return {
    tools: near.map(({ tool }) => tool),
    nearness: signals.nearness,
    confidence: near.length === 0 ? 0 : intentConfidence(signals),
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
