import type { SafetensorsFile, Tensors } from "./encoder/safetensors.ts";

/** Applies a LoRA adapter: adds the product of two small matrices to each layer it covers. */
export function addAdapter(base: Tensors, adapter: SafetensorsFile): Tensors {
  const scale = Number(adapter.metadata["scale"]);
  const layers = adapter.names.filter((name) => name.endsWith(".A")).map((name) => name.slice(0, -".A".length));
  const unknownLayer = layers.find((layer) => !base.has(`${layer}.weight`));
  if (unknownLayer !== undefined) throw new Error(`the adapter does not fit the model: ${unknownLayer}`);
  const changed = new Map(layers.map((layer) => [`${layer}.weight`, layer]));
  let buffer = new Float32Array(0); // reused for each layer, so that the buffers do not pile up until the next collection
  return {
    has: (name) => base.has(name),
    readFloats(name) {
      if (changed.has(name)) throw new Error(`${name} has an adapter and is read by rows only`);
      return base.readFloats(name);
    },
    openRows(name) {
      const layer = changed.get(name);
      const readRow = base.openRows(name);
      if (layer === undefined) return readRow;
      const readFactors = adapter.openRows(`${layer}.B`);
      const [rank, inputs] = [readFactors(0).length, readRow(0).length];
      if (buffer.length < rank * inputs) buffer = new Float32Array(rank * inputs);
      const readA = adapter.openRows(`${layer}.A`);
      for (let at = 0; at < rank; at += 1) buffer.set(readA(at), at * inputs);
      const a = buffer;
      return (row) => addProduct(readRow(row), { a, factors: readFactors(row), scale });
    },
  };
}

interface ProductRow {
  readonly a: Float32Array;
  /** The row of B. */
  readonly factors: Float32Array;
  readonly scale: number;
}

/** Computes a row of W + scale · B·A, with A of rank × inputs and B of outputs × rank. */
function addProduct(values: Float32Array, { a, factors, scale }: ProductRow): Float32Array {
  const inputs = values.length;
  for (const [k, each] of factors.entries()) {
    const factor = scale * each;
    for (let at = 0; at < inputs; at += 1)
      values[at] = (values[at] as number) + factor * (a[k * inputs + at] as number);
  }
  return values;
}
