import { setFlagsFromString } from "node:v8";

/**
 * The one inner loop of vector search, as WebAssembly with SIMD: products of a query of 16-bit numbers
 * with many rows of bytes. It is put together here, instruction by instruction, from this text:
 *
 *   (func (export "scan") (param $row i32) (param $count i32) (param $length i32) (param $query i32) (param $out i32)
 *     (local $at i32) (local $end i32) (local $bytes v128) (local $low v128) (local $high v128)
 *     (block $done (loop $rows
 *       (br_if $done (i32.eqz (local.get $count)))
 *       (local.set $low (v128.const i32x4 0 0 0 0)) (local.set $high (local.get $low))
 *       (local.set $at (local.get $query))
 *       (local.set $end (i32.add (local.get $row) (local.get $length)))
 *       (loop $inner
 *         (local.set $bytes (v128.load (local.get $row)))
 *         (local.set $low (i32x4.add (local.get $low) (i32x4.dot_i16x8_s
 *           (i16x8.extend_low_i8x16_s (local.get $bytes)) (v128.load (local.get $at)))))
 *         (local.set $high (i32x4.add (local.get $high) (i32x4.dot_i16x8_s
 *           (i16x8.extend_high_i8x16_s (local.get $bytes)) (v128.load offset=16 (local.get $at)))))
 *         (local.set $at (i32.add (local.get $at) (i32.const 32)))
 *         (br_if $inner (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 16))) (local.get $end))))
 *       (local.set $low (i32x4.add (local.get $low) (local.get $high)))
 *       (i32.store (local.get $out) (i32.add (i32.add (lane 0 of $low) (lane 1)) (i32.add (lane 2) (lane 3))))
 *       (local.set $out (i32.add (local.get $out) (i32.const 4)))
 *       (local.set $count (i32.sub (local.get $count) (i32.const 1)))
 *       (br $rows))))
 */
const I32 = 0x7f;
const V128 = 0x7b;
const VOID = 0x40;

const [ROW, COUNT, LENGTH, QUERY, OUT, AT, END, BYTES, LOW, HIGH] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const tee = (local: number): number[] => [0x22, local];
/** Up to 63: larger ones would need a second byte. */
const constant = (value: number): number[] => [0x41, value];
const ADD = 0x6a;
const SUBTRACT = 0x6b;
const EQUALS_ZERO = 0x45;
const LESS_UNSIGNED = 0x49;
const END_BLOCK = 0x0b;
type Code = number | readonly number[];
/** Instructions one after the other. */
const list = (...codes: Code[]): number[] => codes.flat();
const block = (...body: Code[]): number[] => list(0x02, VOID, ...body, END_BLOCK);
const loop = (...body: Code[]): number[] => list(0x03, VOID, ...body, END_BLOCK);
const branch = (depth: number): number[] => [0x0c, depth];
const branchIf = (depth: number): number[] => [0x0d, depth];
/** Alignment of 16 bytes as an exponent, then the offset. */
const loadVector = (offset: number): number[] => [0xfd, 0x00, 4, offset];
const ZERO_VECTOR = [0xfd, 0x0c, ...Array.from({ length: 16 }, () => 0)];
const EXTEND_LOW = [0xfd, 0x87, 0x01];
const EXTEND_HIGH = [0xfd, 0x88, 0x01];
const DOT = [0xfd, 0xba, 0x01];
const ADD_VECTORS = [0xfd, 0xae, 0x01];
const lane = (index: number): number[] => [...get(LOW), 0xfd, 0x1b, index];
const STORE = [0x36, 2, 0];

function halfProduct(sum: number, extend: number[], offset: number): number[] {
  return list(get(sum), get(BYTES), extend, get(AT), loadVector(offset), DOT, ADD_VECTORS, set(sum));
}

const INNER = loop(
  list(get(ROW), loadVector(0), set(BYTES)),
  halfProduct(LOW, EXTEND_LOW, 0),
  halfProduct(HIGH, EXTEND_HIGH, 16),
  list(get(AT), constant(32), ADD, set(AT)),
  list(get(ROW), constant(16), ADD, tee(ROW), get(END), LESS_UNSIGNED, branchIf(0)),
);

const BODY = block(
  loop(
    list(get(COUNT), EQUALS_ZERO, branchIf(1)),
    list(ZERO_VECTOR, set(LOW), get(LOW), set(HIGH)),
    list(get(QUERY), set(AT)),
    list(get(ROW), get(LENGTH), ADD, set(END)),
    INNER,
    list(get(LOW), get(HIGH), ADD_VECTORS, set(LOW)),
    list(get(OUT), lane(0), lane(1), ADD, lane(2), lane(3), ADD, ADD, STORE),
    list(get(OUT), constant(4), ADD, set(OUT)),
    list(get(COUNT), constant(1), SUBTRACT, set(COUNT)),
    branch(0),
  ),
);

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

const section = (id: number, content: number[]): number[] => [id, ...unsigned(content.length), ...content];
const text = (value: string): number[] => [value.length, ...new TextEncoder().encode(value)];

function assemble(): Uint8Array<ArrayBuffer> {
  const locals = [2, 2, I32, 3, V128];
  const code = [...locals, ...BODY, END_BLOCK];
  return Uint8Array.from(
    list(
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]),
      section(2, [1, ...text("m"), ...text("m"), 2, 0, 1]), // one memory, of one page at least
      section(3, [1, 0]),
      section(7, [1, ...text("scan"), 0, 0]),
      section(10, [1, ...unsigned(code.length), ...code]),
    ),
  );
}

/** `count` rows of `length` bytes from `row` on, with the query; a 32-bit product of each goes to `out`. */
export interface ScanRequest {
  readonly row: number;
  readonly count: number;
  readonly length: number;
  readonly query: number;
  readonly out: number;
}

let compiled: WebAssembly.Module | undefined;

export function createScan(memory: WebAssembly.Memory): (request: ScanRequest) => void {
  compiled ??= compileOptimised(assemble());
  const { exports } = new WebAssembly.Instance(compiled, { m: { m: memory } });
  const scan = exports["scan"] as (...values: number[]) => void;
  return ({ row, count, length, query, out }) => scan(row, count, length, query, out);
}

/** The process is told not to optimise WebAssembly, for the sake of the database's memory; for a loop it must. */
function compileOptimised(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  setFlagsFromString("--no-liftoff");
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString("--liftoff");
  }
}
