import { expect, test } from "vitest";
import { compileKernels } from "./webassembly/module.ts";
import { Arena } from "./arena.ts";
import { softmax } from "./attention-kernels.ts";
import { packLinear } from "./encoder-weights.ts";
import { BLOCK, linear } from "./linear-kernel.ts";
import { gelu, normaliseRows, quantise } from "./row-kernels.ts";
import { ACTIVATION_RANGE, ACTIVATION_STRIDE, SCORE_STRIDE, WIDTH } from "./shape.ts";

const arena = new Arena();
const run = compileKernels({ linear, quantise, normaliseRows, gelu, softmax })(arena.memory);
const floats = (address: number, length: number): number[] => [...new Float32Array(arena.buffer, address, length)];

/** The largest difference, in proportion to numbers above one. */
function worstOf(actual: readonly number[], expected: readonly number[]): number {
  expect(actual).toHaveLength(expected.length);
  return Math.max(
    ...expected.map((value, at) => Math.abs(value - (actual[at] as number)) / Math.max(1, Math.abs(value))),
  );
}

test("gelu follows x · Φ(x), far out as well", () => {
  const at = arena.putFloats([-100, -6, -1, -0.5, 0, 0.5, 1, 100]);
  run.gelu({ at, end: at + 32 });
  expect(worstOf(floats(at, 8), [0, 0, -0.15865525, -0.15426877, 0, 0.34573123, 0.84134475, 100])).toBeLessThan(3e-7);
});

test("softmax leaves shares of one for each column and nothing after them, whatever the size of the scores", () => {
  const rows = [
    [1, 2, 3, 4, 5],
    [-900, -901, -999, -900, -950],
    [88, 0, -88, 300, 299],
  ];
  const scores = arena.allocate(rows.length * SCORE_STRIDE);
  rows.forEach((row, at) => new Float32Array(arena.buffer, scores + at * SCORE_STRIDE, 8).set([...row, 7, 1e6, NaN]));
  run.softmax({ scores, rows: rows.length, columns: 5 });
  for (const [at, row] of rows.entries()) {
    const powers = row.map((score) => Math.exp(score - Math.max(...row)));
    const sum = powers.reduce((total, power) => total + power);
    expect(
      worstOf(floats(scores + at * SCORE_STRIDE, 8), [...powers.map((power) => power / sum), 0, 0, 0]),
    ).toBeLessThan(2e-7);
  }
});

test("rows are brought to mean 0 and variance 1 with what is added to them, then scaled and moved", () => {
  const rows = arena.putFloats(Array.from({ length: 2 * WIDTH }, (_, at) => at % 7));
  const added = arena.putFloats(Array.from({ length: 2 * WIDTH }, (_, at) => at % 5));
  const learned = arena.putFloats(Array.from({ length: 2 * WIDTH }, (_, at) => (at < WIDTH ? 2 : 10)));
  run.normaliseRows({ rows, count: 2, added, learned });
  for (const row of [0, 1]) {
    const sums = Array.from({ length: WIDTH }, (_, at) => ((row * WIDTH + at) % 7) + ((row * WIDTH + at) % 5));
    const mean = sums.reduce((total, value) => total + value) / WIDTH;
    const deviation = Math.sqrt(sums.reduce((total, value) => total + (value - mean) ** 2, 0) / WIDTH);
    const expected = sums.map((value) => (2 * (value - mean)) / deviation + 10);
    expect(worstOf(floats(rows + row * WIDTH * 4, WIDTH), expected)).toBeLessThan(1e-5);
  }
});

test("the largest sums of integers do not overflow", () => {
  const inputs = WIDTH;
  const { weights, factors } = packLinear(
    [
      {
        openRows: () => (row) =>
          Float32Array.from({ length: inputs }, (_, at) => (row === 0 ? 3 : Math.sin(row * inputs + at))),
        bias: Float32Array.from({ length: BLOCK }, (_, at) => at),
        times: 0.5,
      },
    ],
    arena,
  );
  const tokens = 7;
  const values = Array.from({ length: tokens }, (_, token) =>
    Array.from({ length: inputs }, (__, at) => (token === 0 ? 1 : Math.cos(at * (token + 1)))),
  );
  const input = arena.putFloats(values.flat());
  const activations = arena.allocate(tokens * ACTIVATION_STRIDE);
  const inputFactors = arena.allocate(tokens * 4);
  const output = arena.allocate(tokens * BLOCK * 4);
  run.quantise({ input, bytes: inputs * 4, rows: tokens, output: activations, factors: inputFactors });
  expect(new Int16Array(arena.buffer, activations, inputs)).toEqual(new Int16Array(inputs).fill(ACTIVATION_RANGE));
  const depth = inputs * 2;
  run.linear({
    input: activations,
    inputFactors,
    tokens,
    depth,
    weights,
    factors,
    blocks: 1,
    output,
    outputStride: 32,
  });
  const expected = values.flatMap((row) =>
    Array.from({ length: BLOCK }, (_, at) => {
      const sum = row.reduce((total, x, k) => total + x * (at === 0 ? 3 : Math.sin(at * inputs + k)), 0);
      return 0.5 * (sum + at);
    }),
  );
  expect(expected[0]).toBe(0.5 * 3 * inputs);
  expect(worstOf(floats(output, tokens * BLOCK), expected)).toBeLessThan(5e-3);
});
