import { type Code, code, f32, f32x4, i16x8, i32, loopWhile, repeatWhile, v128 } from "./webassembly/instructions.ts";
import { defineKernel } from "./webassembly/module.ts";
import { ACTIVATION_RANGE, ACTIVATION_STRIDE, FLOAT_BYTES, WIDTH } from "./shape.ts";
import { createExponential, createRound, largestLane, sumLanes } from "./vector-math.ts";

const VECTOR_BYTES = 16;
const ROW_BYTES = WIDTH * FLOAT_BYTES;
/** Epsilon published with the model; too small to change most variances in single precision. */
const LEAST_VARIANCE = 1e-12;
/** Prevents a division by zero for rows of zeros. */
const LEAST_MAGNITUDE = 1e-30;

/** Quantises rows of `bytes` bytes to 16-bit integers within a range, with a factor per row. */
export const quantise = defineKernel(["input", "bytes", "rows", "output", "factors"], (frame, parameters) => {
  const { input, bytes, rows, output, factors } = parameters;
  const { at, end, target } = frame.declare("i32", "at", "end", "target");
  const { largest, factor } = frame.declare("v128", "largest", "factor");
  const { magnitude } = frame.declare("f32", "magnitude");
  const round = createRound(frame);
  const scaled = (offset: number): Code => round(f32x4.multiply(v128.load(at.get, offset), factor.get));
  return loopWhile(
    rows.get,
    end.set(i32.add(input.get, bytes.get)),
    at.set(input.get),
    largest.set(f32x4.const(LEAST_MAGNITUDE)),
    repeatWhile(
      i32.isBelow(at.get, end.get),
      largest.set(f32x4.max(largest.get, f32x4.abs(v128.load(at.get)))),
      at.advance(VECTOR_BYTES),
    ),
    magnitude.set(largestLane(largest)),
    f32.store(factors.get, f32.divide(magnitude.get, f32.const(ACTIVATION_RANGE))),
    factor.set(f32x4.splat(f32.divide(f32.const(ACTIVATION_RANGE), magnitude.get))),
    at.set(input.get),
    target.set(output.get),
    repeatWhile(
      i32.isBelow(at.get, end.get),
      v128.store(target.get, i16x8.narrow(scaled(0), scaled(VECTOR_BYTES))),
      at.advance(2 * VECTOR_BYTES),
      target.advance(VECTOR_BYTES),
    ),
    input.set(end.get),
    output.advance(ACTIVATION_STRIDE),
    factors.advance(FLOAT_BYTES),
    rows.advance(-1),
  );
});

/** Layer normalisation: adds `added` to each row, scales it to mean 0 and variance 1, and applies the learned weight and bias. */
export const normaliseRows = defineKernel(["rows", "count", "added", "learned"], (frame, parameters) => {
  const { rows, count, added, learned } = parameters;
  const { offset } = frame.declare("i32", "offset");
  const { sum, value } = frame.declare("v128", "sum", "value");
  const here = i32.add(rows.get, offset.get);
  const each = (...body: readonly Code[]): Code =>
    code(
      offset.set(i32.const(0)),
      repeatWhile(i32.isBelow(offset.get, i32.const(ROW_BYTES)), ...body, offset.advance(VECTOR_BYTES)),
    );
  const average = (): Code => f32.divide(sumLanes(sum), f32.const(WIDTH));
  const { mean, factor } = frame.declare("v128", "mean", "factor");
  return loopWhile(
    count.get,
    sum.set(v128.zero),
    each(
      value.set(f32x4.add(v128.load(here), v128.load(i32.add(added.get, offset.get)))),
      v128.store(here, value.get),
      sum.set(f32x4.add(sum.get, value.get)),
    ),
    mean.set(f32x4.splat(average())),
    sum.set(v128.zero),
    each(
      value.set(f32x4.subtract(v128.load(here), mean.get)),
      sum.set(f32x4.add(sum.get, f32x4.multiply(value.get, value.get))),
    ),
    factor.set(f32x4.splat(f32.divide(f32.const(1), f32.sqrt(f32.add(average(), f32.const(LEAST_VARIANCE)))))),
    each(
      value.set(f32x4.multiply(f32x4.subtract(v128.load(here), mean.get), factor.get)),
      value.set(f32x4.multiply(value.get, v128.load(i32.add(learned.get, offset.get)))),
      v128.store(here, f32x4.add(value.get, v128.load(i32.add(learned.get, offset.get), ROW_BYTES))),
    ),
    rows.advance(ROW_BYTES),
    added.advance(ROW_BYTES),
    count.advance(-1),
  );
});

/** Approximates the error function to seven places (Handbook of Mathematical Functions, 7.1.26). */
const ERF_SLOPE = 0.3275911;
const ERF_TERMS = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];

/** GELU in place: x · Φ(x), with the normal distribution function. */
export const gelu = defineKernel(["at", "end"], (frame, { at, end }) => {
  const exponential = createExponential(frame);
  const { value, size, fraction, sum } = frame.declare("v128", "value", "size", "fraction", "sum");
  const [zero, half, one, rootHalf, slope] = [0, 0.5, 1, Math.SQRT1_2, ERF_SLOPE].map((each) =>
    frame.constant(each),
  ) as [Code, Code, Code, Code, Code];
  const [highest = zero, ...others] = ERF_TERMS.map((each) => frame.constant(each));
  const erf = f32x4.subtract(
    one,
    f32x4.multiply(
      f32x4.multiply(sum.get, fraction.get),
      exponential(f32x4.subtract(zero, f32x4.multiply(size.get, size.get))),
    ),
  );
  return repeatWhile(
    i32.isBelow(at.get, end.get),
    value.set(v128.load(at.get)),
    size.set(f32x4.multiply(f32x4.abs(value.get), rootHalf)),
    fraction.set(f32x4.divide(one, f32x4.add(one, f32x4.multiply(size.get, slope)))),
    sum.set(highest),
    ...others.map((term) => sum.set(f32x4.add(f32x4.multiply(sum.get, fraction.get), term))),
    v128.store(at.get, f32x4.multiply(half, f32x4.add(value.get, f32x4.multiply(f32x4.abs(value.get), erf)))),
    at.advance(VECTOR_BYTES),
  );
});
