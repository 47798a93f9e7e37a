/** A file of named arrays: eight bytes with the length of a JSON header, the header, the bytes of all arrays. */
export interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface Safetensors {
  readonly metadata: Readonly<Record<string, string>>;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const LENGTH_BYTES = 8;

export function parseSafetensors(file: Uint8Array<ArrayBuffer>): Safetensors {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const text = new TextDecoder().decode(file.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(text) as Record<string, HeaderEntry> & {
    __metadata__?: Record<string, string>;
  };
  const start = LENGTH_BYTES + length;
  const tensors = Object.entries(entries).map(
    ([
      name,
      {
        dtype,
        shape,
        data_offsets: [from, to],
      },
    ]) => {
      return [name, { dtype, shape, bytes: file.subarray(start + from, start + to) }] as const;
    },
  );
  return { metadata, tensors: new Map(tensors) };
}

export function formatSafetensors({ metadata, tensors }: Safetensors): Uint8Array[] {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: metadata };
  for (const [name, { dtype, shape, bytes }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
  }
  // The arrays begin at a multiple of eight, filled up with spaces.
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
  padded.set(text);
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setBigUint64(0, BigInt(padded.length), true);
  return [length, padded, ...[...tensors.values()].map(({ bytes }) => bytes)];
}

/** Values of a tensor of half or single precision. */
export function readFloats({ dtype, bytes }: Tensor): Float32Array {
  const copy = bytes.slice().buffer;
  if (dtype === "F16") return Float32Array.from(new Float16Array(copy));
  if (dtype === "F32") return new Float32Array(copy);
  throw new Error(`tensors of type ${dtype} are not read here`);
}

export function toHalf(values: Float32Array, shape: readonly number[]): Tensor {
  return { dtype: "F16", shape, bytes: new Uint8Array(Float16Array.from(values).buffer) };
}
