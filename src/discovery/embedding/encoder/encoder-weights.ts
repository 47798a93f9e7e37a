import type { ReadRow, Tensors } from "./safetensors.ts";
import { BLOCK, BLOCK_FACTORS_BYTES } from "./linear-kernel.ts";
import type { Arena } from "./arena.ts";
import { ACTIVATION_RANGE, HEAD_WIDTH, LAYERS, SHORT_BYTES, WIDTH } from "./shape.ts";

const LARGEST_SHORT = 32_767;
const LARGEST_SUM = 2 ** 31 - 1;

/** Addresses of a layer's matrix. */
export interface LinearLayer {
  readonly weights: number;
  readonly factors: number;
  readonly inputs: number;
  readonly outputs: number;
}

export interface EncoderLayer {
  /** Projects to queries, keys and values together. */
  readonly projection: LinearLayer;
  readonly attended: LinearLayer;
  readonly attendedNorm: number;
  readonly inner: LinearLayer;
  readonly outer: LinearLayer;
  readonly outerNorm: number;
}

export interface EncoderWeights {
  /** Reads vectors of word pieces: half of the model, of which a text needs a few rows. */
  readonly readWord: ReadRow;
  /** Position vectors plus the constant token type vector. */
  readonly positions: Float32Array;
  readonly embeddedNorm: number;
  readonly layers: readonly EncoderLayer[];
}

/** Loads the weights into the memory layout of the kernels. */
export function readEncoderWeights(tensors: Tensors, arena: Arena): EncoderWeights {
  const floats = (name: string): Float32Array => tensors.readFloats(name);
  const norm = (name: string): number => arena.putFloats([...floats(`${name}.weight`), ...floats(`${name}.bias`)]);
  const linear = (...parts: readonly LinearPart[]): LinearLayer =>
    packLinear(
      parts.map(({ name, times = 1 }) => ({
        openRows: () => tensors.openRows(`${name}.weight`),
        bias: floats(`${name}.bias`),
        times,
      })),
      arena,
    );
  return {
    readWord: tensors.openRows("embeddings.word_embeddings.weight"),
    positions: addToRows(
      floats("embeddings.position_embeddings.weight"),
      floats("embeddings.token_type_embeddings.weight"),
    ),
    embeddedNorm: norm("embeddings.LayerNorm"),
    layers: Array.from({ length: LAYERS }, (_, at) => {
      const layer = `encoder.layer.${at}`;
      const self = `${layer}.attention.self`;
      return {
        // folds the divisor of the scores into the queries
        projection: linear(
          { name: `${self}.query`, times: HEAD_WIDTH ** -0.5 },
          { name: `${self}.key` },
          { name: `${self}.value` },
        ),
        attended: linear({ name: `${layer}.attention.output.dense` }),
        attendedNorm: norm(`${layer}.attention.output.LayerNorm`),
        inner: linear({ name: `${layer}.intermediate.dense` }),
        outer: linear({ name: `${layer}.output.dense` }),
        outerNorm: norm(`${layer}.output.LayerNorm`),
      };
    }),
  };
}

interface LinearPart {
  readonly name: string;
  readonly times?: number;
}

interface Matrix {
  readonly openRows: () => ReadRow;
  readonly bias: Float32Array;
  /** Factor of the outputs. */
  readonly times: number;
}

/** Adds the first row of `others` to every row. */
function addToRows(rows: Float32Array, others: Float32Array): Float32Array {
  return rows.map((value, at) => value + (others[at % WIDTH] as number));
}

/** Packs matrices with the same inputs into one, each output quantised as finely as its sum allows. */
export function packLinear(matrices: readonly Matrix[], arena: Arena): LinearLayer {
  const outputs = matrices.reduce((sum, { bias }) => sum + bias.length, 0);
  const inputs = matrices[0]?.openRows()(0).length ?? 0;
  const weights = arena.allocate(outputs * inputs * SHORT_BYTES);
  const factors = arena.allocate((outputs / BLOCK) * BLOCK_FACTORS_BYTES);
  const packed = new Int16Array(arena.buffer, weights, outputs * inputs);
  const packedFactors = new Float32Array(arena.buffer, factors, (outputs / BLOCK) * 2 * BLOCK);
  let output = 0;
  for (const { openRows, bias, times } of matrices) {
    const readRow = openRows();
    for (const [row, added] of bias.entries()) {
      const values = readRow(row);
      const scale = scaleOf(values);
      packRow({ values, scale, target: packed.subarray(blockStart(output) * inputs), lane: output % BLOCK });
      const place = blockStart(output) * 2 + (output % BLOCK);
      packedFactors[place] = times / scale;
      packedFactors[place + BLOCK] = times * added;
      output += 1;
    }
  }
  return { weights, factors, inputs, outputs };
}

function blockStart(output: number): number {
  return output - (output % BLOCK);
}

/** Largest scale at which neither a weight nor a sum with the largest activations overflows. */
function scaleOf(values: Float32Array): number {
  let [largest, sum] = [1e-30, 1e-30];
  for (const value of values) {
    const size = Math.abs(value);
    largest = Math.max(largest, size);
    sum += size;
  }
  const roundedUp = values.length / 2;
  return Math.min(LARGEST_SHORT / largest, (LARGEST_SUM / ACTIVATION_RANGE - roundedUp) / sum);
}

interface RowToPack {
  readonly values: Float32Array;
  readonly scale: number;
  /** The block's memory: two numbers of each row in turn. */
  readonly target: Int16Array;
  readonly lane: number;
}

function packRow({ values, scale, target, lane }: RowToPack): void {
  for (let at = 0; at < values.length; at += 2) {
    const place = at * BLOCK + lane * 2;
    target[place] = Math.round((values[at] as number) * scale);
    target[place + 1] = Math.round((values[at + 1] as number) * scale);
  }
}
