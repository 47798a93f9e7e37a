import { type Code, code, f32x4, i32, i32x4, loopWhile, repeatWhile, v128 } from "./webassembly/instructions.ts";
import { defineKernel, type Frame, type Local } from "./webassembly/module.ts";
import { ACTIVATION_STRIDE, FLOAT_BYTES, SHORT_BYTES } from "./shape.ts";

const VECTOR_BYTES = 16;
/** Outputs per block: two vectors of four. */
export const BLOCK = 8;
/** The factors of a block, then its biases. */
export const BLOCK_FACTORS_BYTES = 2 * BLOCK * FLOAT_BYTES;
/** A step takes two inputs of a token. */
const STEP_BYTES = 2 * SHORT_BYTES;
/** Tokens per tile: as many as there are registers for their sums, then the remainders. */
const HEIGHTS = [4, 2, 1] as const;

/**
 * Computes a layer: outputs = factors · (weights × inputs) + bias, with an integer product. Weights of a block are contiguous:
 * for each two inputs those of the first four outputs, then of the other four. `depth` is in bytes.
 */
export const linear = defineKernel(
  ["input", "inputFactors", "tokens", "depth", "weights", "factors", "blocks", "output", "outputStride"],
  (frame, parameters) => {
    const { blocks, depth, factors, output, weights } = parameters;
    const { token, tokenFactor, left, target } = frame.declare("i32", "token", "tokenFactor", "left", "target");
    const tile = createTile(frame, { ...parameters, token, tokenFactor, target });
    return loopWhile(
      blocks.get,
      token.set(parameters.input.get),
      tokenFactor.set(parameters.inputFactors.get),
      left.set(parameters.tokens.get),
      target.set(output.get),
      ...HEIGHTS.map((height) =>
        loopWhile(
          i32.isAtLeast(left.get, i32.const(height)),
          tile(height),
          token.advance(height * ACTIVATION_STRIDE),
          tokenFactor.advance(height * FLOAT_BYTES),
          left.advance(-height),
        ),
      ),
      weights.advance(i32.multiply(depth.get, i32.const(BLOCK))),
      factors.advance(BLOCK_FACTORS_BYTES),
      output.advance(BLOCK * FLOAT_BYTES),
      blocks.advance(-1),
    );
  },
);

interface TileParts {
  readonly token: Local;
  readonly tokenFactor: Local;
  readonly weights: Local;
  readonly factors: Local;
  readonly depth: Local;
  /** Address of the tile's outputs; advances by a row for each token. */
  readonly target: Local;
  readonly outputStride: Local;
}

/** Sums of one token: the first four outputs of a block, and the other four. */
type Sums = Readonly<Record<"low" | "high", Local>>;

/** Computes a block of outputs for a tile of tokens. */
function createTile(frame: Frame, parts: TileParts): (height: number) => Code {
  const { token, tokenFactor, weights, factors, depth, target, outputStride } = parts;
  const { at, weight, end } = frame.declare("i32", "at", "weight", "end");
  const { pair, first, second } = frame.declare("v128", "pair", "first", "second");
  const sums = Array.from({ length: HEIGHTS[0] }, () => frame.declare("v128", "low", "high"));

  const step = (rows: readonly Sums[]): Code =>
    code(
      first.set(v128.load(weight.get)),
      second.set(v128.load(weight.get, VECTOR_BYTES)),
      ...rows.map(({ low, high }, row) =>
        code(
          pair.set(v128.loadSplat(at.get, row * ACTIVATION_STRIDE)),
          low.set(i32x4.add(low.get, i32x4.dot(pair.get, first.get))),
          high.set(i32x4.add(high.get, i32x4.dot(pair.get, second.get))),
        ),
      ),
    );
  const finish = ({ low, high }: Sums, row: number): Code =>
    code(
      pair.set(v128.loadSplat(tokenFactor.get, row * FLOAT_BYTES)),
      ...[low, high].map((sum, half) => {
        const factor = f32x4.multiply(pair.get, v128.load(factors.get, half * VECTOR_BYTES));
        const bias = v128.load(factors.get, (2 + half) * VECTOR_BYTES);
        const value = f32x4.add(f32x4.multiply(f32x4.fromIntegers(sum.get), factor), bias);
        return v128.store(target.get, value, half * VECTOR_BYTES);
      }),
      target.advance(outputStride.get),
    );
  return (height) => {
    const rows = sums.slice(0, height);
    return code(
      ...rows.flatMap(({ low, high }) => [low.set(v128.zero), high.set(v128.zero)]),
      at.set(token.get),
      weight.set(weights.get),
      end.set(i32.add(token.get, depth.get)),
      repeatWhile(i32.isBelow(at.get, end.get), step(rows), at.advance(STEP_BYTES), weight.advance(2 * VECTOR_BYTES)),
      ...rows.map(finish),
    );
  };
}
