import { splitWords } from "../query-words.ts";

/** An intent as the model reads it. */
export interface IntentFeatures {
  /** Places of its stems and pairs of stems among the hashed weights. */
  readonly words: Uint16Array;
  readonly vector: Float32Array;
}

interface Example {
  readonly features: IntentFeatures;
  /** Facts about the calls that followed. */
  readonly labels: ReadonlySet<string>;
}

const HASHED = 2048;
const RATE = 2;
/** The share of a step by which the constant moves: it must not outrun the words. */
const CONSTANT_RATE = 0.1;
/** Most labels are false for most intents. */
const FIRST_CONSTANT = -2;
/** Earlier examples repeated per learned one; without them the latest would count most. */
const REPLAYED = 20;
/** Labels that are false, updated per step; with more the time of a step would grow with the memory. */
const FALSE_PER_STEP = 48;
/** Bounds memory to about 9 KB per label; labels beyond it are not learned. */
const MAX_LABELS = 600;
const LEAST_ERROR = 0.001;

/** Places of the stems of a text, and of pairs of stems. */
export function placesOf(text: string): IntentFeatures["words"] {
  const stems = splitWords(text);
  const pairs = stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`);
  return new Uint16Array(new Set([...stems, ...pairs].map((each) => hash(each) % HASHED)));
}

/**
 * Predicts from an intent which calls follow: one logistic regression per label, trained online. The same examples in
 * the same order give the same model, so it is rebuilt from stored intents instead of being stored.
 */
export class ToolModel {
  readonly #dimensions: number;
  readonly #weights = new Map<string, Float32Array>();
  #labels: string[] = [];
  #steps = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
  }

  /** Learns an example and repeats earlier ones. */
  learn(example: Example, earlier: { readonly count: number; at(index: number): Example }, replayed = REPLAYED): void {
    for (const label of example.labels) this.#add(label);
    this.#step(example);
    for (let index = 0; index < replayed && earlier.count > 0; index += 1) {
      this.#step(earlier.at(this.#pick(earlier.count)));
    }
  }

  /** Log odds of each label. */
  judge(features: IntentFeatures): ReadonlyMap<string, number> {
    return new Map(this.#labels.map((label) => [label, this.#logOdds(this.#weights.get(label)!, features)]));
  }

  #add(label: string): void {
    if (this.#weights.has(label) || this.#labels.length >= MAX_LABELS) return;
    const weights = new Float32Array(HASHED + this.#dimensions + 1);
    weights[weights.length - 1] = FIRST_CONSTANT;
    this.#weights.set(label, weights);
    this.#labels.push(label);
  }

  #step({ features, labels }: Example): void {
    for (const label of labels) this.#move(label, features, 1);
    const all = this.#labels.length;
    if (all <= FALSE_PER_STEP) {
      for (const label of this.#labels) if (!labels.has(label)) this.#move(label, features, 0);
      return;
    }
    for (let count = 0; count < FALSE_PER_STEP; count += 1) {
      const label = this.#labels[this.#pick(all)] as string;
      if (!labels.has(label)) this.#move(label, features, 0);
    }
  }

  #move(label: string, { words, vector }: IntentFeatures, wanted: 0 | 1): void {
    const weights = this.#weights.get(label);
    if (weights === undefined) return;
    const error = wanted - 1 / (1 + Math.exp(-this.#logOdds(weights, { words, vector })));
    if (Math.abs(error) < LEAST_ERROR) return;
    const change = RATE * error;
    const perWord = change / Math.sqrt(words.length || 1);
    for (const place of words) weights[place] = (weights[place] as number) + perWord;
    for (let at = 0; at < vector.length; at += 1) {
      weights[HASHED + at] = (weights[HASHED + at] as number) + change * (vector[at] as number);
    }
    const last = weights.length - 1;
    weights[last] = (weights[last] as number) + CONSTANT_RATE * change;
  }

  #logOdds(weights: Float32Array, { words, vector }: IntentFeatures): number {
    let byWords = 0;
    for (const place of words) byWords += weights[place] as number;
    let sum = (weights.at(-1) as number) + byWords / Math.sqrt(words.length || 1);
    for (let at = 0; at < vector.length; at += 1) sum += (weights[HASHED + at] as number) * (vector[at] as number);
    return sum;
  }

  /** Picks pseudo-randomly, the same way whenever the same steps are made. */
  #pick(count: number): number {
    this.#steps = (this.#steps + 1) >>> 0;
    let mixed = Math.imul(this.#steps ^ (this.#steps >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % count;
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
