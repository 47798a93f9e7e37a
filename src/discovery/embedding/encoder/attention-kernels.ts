import { type Code, code, f32, f32x4, i32, i32x4, loopWhile, repeatWhile, v128 } from "./webassembly/instructions.ts";
import { defineKernel, type Kernel } from "./webassembly/module.ts";
import { FLOAT_BYTES, PROJECTED_WIDTH, SCORE_STRIDE, WIDTH } from "./shape.ts";
import { createExponential, largestLane, sumLanes } from "./vector-math.ts";

const VECTOR_BYTES = 16;
const HEIGHTS = [4, 1] as const;
const PROJECTED_BYTES = PROJECTED_WIDTH * FLOAT_BYTES;

interface Strides {
  readonly left: number;
  readonly right: number;
  readonly product: number;
}

type ProductName = "left" | "right" | "product" | "rows" | "depth" | "columns";

/** Multiplies two matrices of floats, in tiles of up to four rows by eight columns. */
function defineProduct(strides: Strides): Kernel<ProductName> {
  return defineKernel(["left", "right", "product", "rows", "depth", "columns"], (frame, parameters) => {
    const { left, right, product, rows, depth, columns } = parameters;
    const { from, to, at, other, end, remaining } = frame.declare(
      "i32",
      "from",
      "to",
      "at",
      "other",
      "end",
      "remaining",
    );
    const { low, high, factor } = frame.declare("v128", "low", "high", "factor");
    const sums = Array.from({ length: HEIGHTS[0] }, () => frame.declare("v128", "low", "high"));
    const tile = (height: number): Code => {
      const tileSums = sums.slice(0, height);
      return code(
        ...tileSums.flatMap((sum) => [sum.low.set(v128.zero), sum.high.set(v128.zero)]),
        at.set(from.get),
        other.set(right.get),
        end.set(i32.add(from.get, i32.multiply(depth.get, i32.const(FLOAT_BYTES)))),
        repeatWhile(
          i32.isBelow(at.get, end.get),
          low.set(v128.load(other.get)),
          high.set(v128.load(other.get, VECTOR_BYTES)),
          ...tileSums.flatMap((sum, row) => [
            factor.set(v128.loadSplat(at.get, row * strides.left)),
            sum.low.set(f32x4.add(sum.low.get, f32x4.multiply(factor.get, low.get))),
            sum.high.set(f32x4.add(sum.high.get, f32x4.multiply(factor.get, high.get))),
          ]),
          at.advance(FLOAT_BYTES),
          other.advance(strides.right),
        ),
        ...tileSums.flatMap((sum, row) => [
          v128.store(to.get, sum.low.get, row * strides.product),
          v128.store(to.get, sum.high.get, row * strides.product + VECTOR_BYTES),
        ]),
        from.advance(height * strides.left),
        to.advance(height * strides.product),
        remaining.advance(-height),
      );
    };
    return loopWhile(
      columns.get,
      from.set(left.get),
      to.set(product.get),
      remaining.set(rows.get),
      ...HEIGHTS.map((height) => loopWhile(i32.isAtLeast(remaining.get, i32.const(height)), tile(height))),
      right.advance(2 * VECTOR_BYTES),
      product.advance(2 * VECTOR_BYTES),
      columns.advance(-8),
    );
  });
}

/** Attention scores: queries by transposed keys. */
export const scores = defineProduct({ left: PROJECTED_BYTES, right: SCORE_STRIDE, product: SCORE_STRIDE });

/** Attention output: shares by values. */
export const mixture = defineProduct({ left: SCORE_STRIDE, right: PROJECTED_BYTES, product: WIDTH * FLOAT_BYTES });

/** Softmax of each row; zeroes the padding after the last column. */
export const softmax = defineKernel(["scores", "rows", "columns"], (frame, parameters) => {
  const { rows, columns } = parameters;
  const { at, column } = frame.declare("i32", "at", "column");
  const { largest, sum, share } = frame.declare("v128", "largest", "sum", "share");
  const exponential = createExponential(frame);
  const lanes = frame.hold(i32x4.const(0, 1, 2, 3));
  const width = frame.hold(i32x4.splat(columns.get));
  const least = frame.constant(-3e38);
  const isColumn = i32x4.isBelow(i32x4.add(i32x4.splat(column.get), lanes), width);
  const each = (...body: readonly Code[]): Code =>
    code(
      at.set(parameters.scores.get),
      column.set(i32.const(0)),
      repeatWhile(i32.isBelow(column.get, columns.get), ...body, at.advance(VECTOR_BYTES), column.advance(4)),
    );
  return loopWhile(
    rows.get,
    largest.set(least),
    each(largest.set(f32x4.max(largest.get, v128.select(v128.load(at.get), least, isColumn)))),
    largest.set(f32x4.splat(largestLane(largest))),
    sum.set(v128.zero),
    each(
      share.set(v128.and(exponential(f32x4.subtract(v128.load(at.get), largest.get)), isColumn)),
      v128.store(at.get, share.get),
      sum.set(f32x4.add(sum.get, share.get)),
    ),
    share.set(f32x4.splat(f32.divide(f32.const(1), sumLanes(sum)))),
    each(v128.store(at.get, f32x4.multiply(v128.load(at.get), share.get))),
    parameters.scores.advance(SCORE_STRIDE),
    rows.advance(-1),
  );
});
