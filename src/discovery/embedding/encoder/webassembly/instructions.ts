/**
 * WebAssembly instructions as functions: each takes the code of its operands and returns its own. A kernel reads as the
 * expression it computes, and loops in TypeScript unroll code.
 */

/** Encoded instructions in execution order; an expression leaves one value. */
export type Code = readonly number[];

export function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const rest = value >> 7;
  const done = rest === 0 ? (value & 0x40) === 0 : rest === -1 && (value & 0x40) !== 0;
  return done ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(rest)];
}

const bytesOf = (value: number): number[] => [...new Uint8Array(Float32Array.of(value).buffer)];
const simd = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];

/** Concatenates code. */
export const code = (...parts: readonly Code[]): Code => parts.flat();

const unary =
  (opcode: Code) =>
  (operand: Code): Code =>
    code(operand, opcode);
const binary =
  (opcode: Code) =>
  (left: Code, right: Code): Code =>
    code(left, right, opcode);
/** Alignment is only a hint; the smallest is always valid. */
const load =
  (opcode: Code) =>
  (address: Code, offset = 0): Code =>
    code(address, opcode, [0], unsigned(offset));
const store =
  (opcode: Code) =>
  (address: Code, value: Code, offset = 0): Code =>
    code(address, value, opcode, [0], unsigned(offset));

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  add: binary([0x6a]),
  subtract: binary([0x6b]),
  multiply: binary([0x6c]),
  isZero: unary([0x45]),
  isBelow: binary([0x49]),
  isAtLeast: binary([0x4f]),
  store: store([0x36]),
};

export const f32 = {
  const: (value: number): Code => [0x43, ...bytesOf(value)],
  add: binary([0x92]),
  multiply: binary([0x94]),
  divide: binary([0x95]),
  max: binary([0x97]),
  sqrt: unary([0x91]),
  store: store([0x38]),
};

export const v128 = {
  load: load(simd(0)),
  /** Loads one 32-bit number into all four lanes. */
  loadSplat: load(simd(9)),
  store: store(simd(11)),
  zero: code(
    simd(12),
    Array.from({ length: 16 }, () => 0),
  ),
  and: binary(simd(78)),
  /** Selects bits of the first where the mask is one, else of the second. */
  select: (first: Code, second: Code, mask: Code): Code => code(first, second, mask, simd(82)),
};

export const i16x8 = {
  /** Narrows two vectors of 32-bit numbers to 16 bits, with saturation. */
  narrow: binary(simd(133)),
  fromLowBytes: unary(simd(135)),
  fromHighBytes: unary(simd(136)),
};

export const i32x4 = {
  const: (...lanes: readonly [number, number, number, number]): Code =>
    code(simd(12), [...new Uint8Array(Int32Array.from(lanes).buffer)]),
  splat: unary(simd(17)),
  lane: (vector: Code, at: number): Code => code(vector, simd(27), [at]),
  isBelow: binary(simd(57)),
  shiftLeft: (vector: Code, bits: number): Code => code(vector, i32.const(bits), simd(171)),
  add: binary(simd(174)),
  subtract: binary(simd(177)),
  /** Multiplies eight pairs of 16-bit numbers and adds neighbouring products. */
  dot: binary(simd(186)),
};

export const f32x4 = {
  const: (value: number): Code => code(simd(12), bytesOf(value), bytesOf(value), bytesOf(value), bytesOf(value)),
  splat: unary(simd(19)),
  lane: (vector: Code, at: number): Code => code(vector, simd(31), [at]),
  abs: unary(simd(224)),
  add: binary(simd(228)),
  subtract: binary(simd(229)),
  multiply: binary(simd(230)),
  divide: binary(simd(231)),
  max: binary(simd(235)),
  fromIntegers: unary(simd(250)),
};

const VOID = 0x40;
const END = 0x0b;

/** Runs the body at least once, then while the condition holds. */
export const repeatWhile = (condition: Code, ...body: readonly Code[]): Code =>
  code([0x03, VOID], ...body, condition, [0x0d, 0], [END]);

/** Runs the body while the condition holds. */
export const loopWhile = (condition: Code, ...body: readonly Code[]): Code =>
  code([0x02, VOID, 0x03, VOID], i32.isZero(condition), [0x0d, 1], ...body, [0x0c, 0], [END, END]);
