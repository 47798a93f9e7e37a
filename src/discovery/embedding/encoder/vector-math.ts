import { type Code, code, f32, f32x4, i32x4, v128 } from "./webassembly/instructions.ts";
import type { Frame, Local } from "./webassembly/module.ts";

/**
 * Rounds a small number when added to it: the sum has no bits for a fraction, and its lowest bits are the integer.
 */
const ROUNDING = 1.5 * 2 ** 23;
const ROUNDING_BITS = new Int32Array(Float32Array.of(ROUNDING).buffer)[0] as number;
/** Lower bound of the argument: the exponential is nearly zero below it, and its exponent would underflow. */
const LEAST_EXPONENT = -87;
/** ln 2 in two parts; products of the first with integers are exact. */
const [LN2_HIGH, LN2_LOW] = [0.693359375, Math.LN2 - 0.693359375] as const;
/** Coefficients of the power series, highest first: single precision up to half of ln 2. */
const SERIES = [1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1];

/** Exponential of lanes that are at most a little above zero, to two units in the last place. */
export function createExponential(frame: Frame): (value: Code) => Code {
  const { power, rounded, sum } = frame.declare("v128", "power", "rounded", "sum");
  const [rounding, least, log2e, high, low, ...series] = [
    ROUNDING,
    LEAST_EXPONENT,
    Math.LOG2E,
    LN2_HIGH,
    LN2_LOW,
    ...SERIES,
  ].map((value) => frame.constant(value)) as [Code, Code, Code, Code, Code, ...Code[]];
  const [highest = v128.zero, ...others] = series;
  const whole = f32x4.subtract(rounded.get, rounding);
  return (value) =>
    code(
      power.set(f32x4.max(value, least)),
      rounded.set(f32x4.add(f32x4.multiply(power.get, log2e), rounding)),
      power.set(f32x4.subtract(power.get, f32x4.multiply(whole, high))),
      power.set(f32x4.subtract(power.get, f32x4.multiply(whole, low))),
      sum.set(highest),
      ...others.map((factor) => sum.set(f32x4.add(f32x4.multiply(sum.get, power.get), factor))),
      // multiplies by a power of two: adds the integer to the exponent bits
      i32x4.add(sum.get, i32x4.shiftLeft(rounded.get, 23)),
    );
}

/** Rounds to the nearest integers, for values of up to 22 bits. */
export function createRound(frame: Frame): (value: Code) => Code {
  const rounding = frame.constant(ROUNDING);
  const bits = frame.hold(i32x4.const(ROUNDING_BITS, ROUNDING_BITS, ROUNDING_BITS, ROUNDING_BITS));
  return (value) => i32x4.subtract(f32x4.add(value, rounding), bits);
}

/** Sums the four lanes. */
export function sumLanes(vector: Local): Code {
  const lane = (at: number): Code => f32x4.lane(vector.get, at);
  return f32.add(f32.add(lane(0), lane(1)), f32.add(lane(2), lane(3)));
}

/** Takes the maximum of the four lanes. */
export function largestLane(vector: Local): Code {
  const lane = (at: number): Code => f32x4.lane(vector.get, at);
  return f32.max(f32.max(lane(0), lane(1)), f32.max(lane(2), lane(3)));
}
