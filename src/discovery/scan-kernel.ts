import {
  type Code,
  i16x8,
  i32,
  i32x4,
  loopWhile,
  repeatWhile,
  v128,
} from "./embedding/encoder/webassembly/instructions.ts";
import { type Callable, compileKernels, defineKernel, type Local } from "./embedding/encoder/webassembly/module.ts";

/** Bytes of a row, or half of the query's numbers, per load. */
const LANES = 16;

/**
 * The inner loop of vector search: dot products of a 16-bit query with `count` rows of bytes from `row` on, each
 * `length` long, a multiple of 16. Writes a 32-bit product per row to `out`.
 */
const scan = defineKernel(["row", "count", "length", "query", "out"], (frame, parameters) => {
  const { row, count, length, query, out } = parameters;
  const { at, end } = frame.declare("i32", "at", "end");
  const { bytes, low, high } = frame.declare("v128", "bytes", "low", "high");
  const add = (sum: Local, numbers: Code, offset: number): Code =>
    sum.set(i32x4.add(sum.get, i32x4.dot(numbers, v128.load(at.get, offset))));
  const lane = (index: number): Code => i32x4.lane(low.get, index);
  return loopWhile(
    count.get,
    low.set(v128.zero),
    high.set(v128.zero),
    at.set(query.get),
    end.set(i32.add(row.get, length.get)),
    repeatWhile(
      i32.isBelow(row.get, end.get),
      bytes.set(v128.load(row.get)),
      add(low, i16x8.fromLowBytes(bytes.get), 0),
      add(high, i16x8.fromHighBytes(bytes.get), LANES),
      at.advance(2 * LANES),
      row.advance(LANES),
    ),
    low.set(i32x4.add(low.get, high.get)),
    i32.store(out.get, i32.add(i32.add(lane(0), lane(1)), i32.add(lane(2), lane(3)))),
    out.advance(Int32Array.BYTES_PER_ELEMENT),
    count.advance(-1),
  );
});

let compiled: ReturnType<typeof compileKernels<{ readonly scan: typeof scan }>> | undefined;

export function createScan(memory: WebAssembly.Memory): Callable<typeof scan> {
  compiled ??= compileKernels({ scan });
  return compiled(memory).scan;
}
