import { compileKernels } from "./webassembly/module.ts";
import { normalise } from "./unit-vector.ts";
import type { Tensors } from "./safetensors.ts";
import { Arena } from "./arena.ts";
import { mixture, scores, softmax } from "./attention-kernels.ts";
import { type EncoderLayer, type EncoderWeights, type LinearLayer, readEncoderWeights } from "./encoder-weights.ts";
import { BLOCK, linear } from "./linear-kernel.ts";
import { gelu, normaliseRows, quantise } from "./row-kernels.ts";
import {
  ACTIVATION_STRIDE,
  FLOAT_BYTES,
  HEAD_WIDTH,
  HEADS,
  INNER_WIDTH,
  MOST_TOKENS,
  PROJECTED_WIDTH,
  SCORE_STRIDE,
  SHORT_BYTES,
  WIDTH,
} from "./shape.ts";

const KERNELS = { linear, quantise, normaliseRows, gelu, scores, softmax, mixture };
/** Columns per tile of scores. */
const TILE_COLUMNS = 8;
const ROW_BYTES = WIDTH * FLOAT_BYTES;
const PROJECTED_BYTES = PROJECTED_WIDTH * FLOAT_BYTES;
const HEAD_BYTES = HEAD_WIDTH * FLOAT_BYTES;
const SCORE_COLUMNS = SCORE_STRIDE / FLOAT_BYTES;

/** Range of a text's tokens within a pass. */
interface Span {
  readonly start: number;
  readonly length: number;
}

/**
 * Computes the sentence model. Matrix products use 16-bit integers, at a negligible loss of precision; everything else uses
 * floats.
 */
export class Encoder {
  readonly #arena = new Arena();
  readonly #weights: EncoderWeights;
  readonly #run: ReturnType<ReturnType<typeof compileKernels<typeof KERNELS>>>;
  readonly #at: ReturnType<typeof allocateRows>;

  /** Keeps the tensors open: word vectors are read on demand. */
  constructor(tensors: Tensors) {
    this.#weights = readEncoderWeights(tensors, this.#arena);
    this.#at = allocateRows(this.#arena);
    this.#run = compileKernels(KERNELS)(this.#arena.memory);
  }

  /** Returns a unit vector per text. Texts are token ids including the special ones, at most `MOST_TOKENS` together. */
  encode(texts: readonly (readonly number[])[]): Float32Array[] {
    const tokens = texts.flat();
    if (tokens.length > MOST_TOKENS)
      throw new RangeError(`${tokens.length} tokens at once, at most ${MOST_TOKENS} fit`);
    let start = 0;
    const spans = texts.map(({ length }) => ({ start: (start += length) - length, length }));
    this.#embed(texts);
    for (const layer of this.#weights.layers) this.#passLayer(layer, spans);
    return spans.map((span) => this.#pool(span));
  }

  #floats(address: number, length: number): Float32Array {
    return new Float32Array(this.#arena.buffer, address, length);
  }

  #embed(texts: readonly (readonly number[])[]): void {
    const { readWord, positions, embeddedNorm } = this.#weights;
    const { state, update } = this.#at;
    const count = texts.flat().length;
    const rows = this.#floats(state, count * WIDTH);
    const added = this.#floats(update, count * WIDTH);
    let row = 0;
    for (const tokens of texts) {
      for (const [position, token] of tokens.entries()) {
        rows.set(readWord(token), row * WIDTH);
        added.set(positions.subarray(position * WIDTH, (position + 1) * WIDTH), row * WIDTH);
        row += 1;
      }
    }
    this.#run.normaliseRows({ rows: state, count, added: update, learned: embeddedNorm });
  }

  #passLayer(layer: EncoderLayer, spans: readonly Span[]): void {
    const { state, update, projected, attended, inner } = this.#at;
    const count = spans.reduce((sum, { length }) => sum + length, 0);
    this.#multiply(layer.projection, { input: state, output: projected, count });
    for (const span of spans) this.#attend(span);
    this.#multiply(layer.attended, { input: attended, output: update, count });
    this.#run.normaliseRows({ rows: state, count, added: update, learned: layer.attendedNorm });
    this.#multiply(layer.inner, { input: state, output: inner, count });
    this.#run.gelu({ at: inner, end: inner + count * INNER_WIDTH * FLOAT_BYTES });
    this.#multiply(layer.outer, { input: inner, output: update, count });
    this.#run.normaliseRows({ rows: state, count, added: update, learned: layer.outerNorm });
  }

  #multiply(
    { weights, factors, inputs, outputs }: LinearLayer,
    { input, output, count }: { readonly input: number; readonly output: number; readonly count: number },
  ): void {
    const { activations, activationFactors } = this.#at;
    const bytes = inputs * FLOAT_BYTES;
    this.#run.quantise({ input, bytes, rows: count, output: activations, factors: activationFactors });
    this.#run.linear({
      input: activations,
      inputFactors: activationFactors,
      tokens: count,
      depth: inputs * SHORT_BYTES,
      weights,
      factors,
      blocks: outputs / BLOCK,
      output,
      outputStride: outputs * FLOAT_BYTES,
    });
  }

  #attend({ start, length }: Span): void {
    const { projected, keys, scored, attended } = this.#at;
    const first = projected + start * PROJECTED_BYTES;
    this.#turnKeys(first, length);
    for (let head = 0; head < HEADS; head += 1) {
      const query = first + head * HEAD_BYTES;
      this.#run.scores({
        left: query,
        right: keys + head * HEAD_WIDTH * SCORE_STRIDE,
        product: scored,
        rows: length,
        depth: HEAD_WIDTH,
        columns: Math.ceil(length / TILE_COLUMNS) * TILE_COLUMNS,
      });
      this.#run.softmax({ scores: scored, rows: length, columns: length });
      this.#run.mixture({
        left: scored,
        right: query + 2 * ROW_BYTES,
        product: attended + start * ROW_BYTES + head * HEAD_BYTES,
        rows: length,
        depth: length,
        columns: HEAD_WIDTH,
      });
    }
  }

  /** Transposes the keys: a row per dimension, a column per token. */
  #turnKeys(first: number, length: number): void {
    const from = this.#floats(first, length * PROJECTED_WIDTH);
    const to = this.#floats(this.#at.keys, WIDTH * SCORE_COLUMNS);
    for (let token = 0; token < length; token += 1) {
      const key = token * PROJECTED_WIDTH + WIDTH;
      for (let at = 0; at < WIDTH; at += 1) to[at * SCORE_COLUMNS + token] = from[key + at] as number;
    }
  }

  /** Pools the tokens to their mean, at length 1. */
  #pool({ start, length }: Span): Float32Array {
    const rows = this.#floats(this.#at.state + start * ROW_BYTES, length * WIDTH);
    const sum = new Float32Array(WIDTH);
    for (const [at, value] of rows.entries()) sum[at % WIDTH] = (sum[at % WIDTH] as number) + value;
    return normalise(sum);
  }
}

/** Allocates the buffers of a pass. */
function allocateRows(arena: Arena) {
  const rows = (width: number): number => arena.allocate(MOST_TOKENS * width * FLOAT_BYTES);
  return {
    state: rows(WIDTH),
    update: rows(WIDTH),
    projected: rows(PROJECTED_WIDTH),
    keys: arena.allocate(WIDTH * SCORE_STRIDE),
    scored: arena.allocate(MOST_TOKENS * SCORE_STRIDE),
    attended: rows(WIDTH),
    inner: rows(INNER_WIDTH),
    activations: arena.allocate(MOST_TOKENS * ACTIVATION_STRIDE),
    activationFactors: rows(1),
  };
}
