import { type Code, code, f32, f32x4, i32x4, v128 } from "./webassembly/instructions.ts";
import type { Frame, Local } from "./webassembly/module.ts";

/**
 * Added to a small number it leaves no bits for a fraction: the number is rounded, and stands as an integer in the
 * lowest bits.
 */
const ROUNDING = 1.5 * 2 ** 23;
const ROUNDING_BITS = new Int32Array(Float32Array.of(ROUNDING).buffer)[0] as number;
/** Below it the exponential is as good as zero, and its exponent would not fit. */
const LEAST_EXPONENT = -87;
/** ln 2 in two parts, the first so short that its products with integers are exact. */
const [LN2_HIGH, LN2_LOW] = [0.693359375, Math.LN2 - 0.693359375] as const;
/** Of the power series, from the highest on: enough for single precision up to half of ln 2. */
const SERIES = [1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1];

/** e to the power of a vector, whose lanes are at most a few above zero; up to two units in the last place. */
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
      // times two to the power of the integer: added where the exponent stands
      i32x4.add(sum.get, i32x4.shiftLeft(rounded.get, 23)),
    );
}

/** The nearest integers, for values of up to 22 bits. */
export function createRound(frame: Frame): (value: Code) => Code {
  const rounding = frame.constant(ROUNDING);
  const bits = frame.hold(i32x4.const(ROUNDING_BITS, ROUNDING_BITS, ROUNDING_BITS, ROUNDING_BITS));
  return (value) => i32x4.subtract(f32x4.add(value, rounding), bits);
}

/** The sum of the four lanes. */
export function sumLanes(vector: Local): Code {
  const lane = (at: number): Code => f32x4.lane(vector.get, at);
  return f32.add(f32.add(lane(0), lane(1)), f32.add(lane(2), lane(3)));
}

/** The largest of the four lanes. */
export function largestLane(vector: Local): Code {
  const lane = (at: number): Code => f32x4.lane(vector.get, at);
  return f32.max(f32.max(lane(0), lane(1)), f32.max(lane(2), lane(3)));
}
