import type { SafetensorsFile, Tensors } from "./safetensors.ts";

/** The model with an adapter: two small matrices for each layer that it changes, whose product is added. */
export function addAdapter(base: Tensors, adapter: SafetensorsFile): Tensors {
  const scale = Number(adapter.metadata["scale"]);
  const layers = adapter.names.filter((name) => name.endsWith(".A")).map((name) => name.slice(0, -".A".length));
  const stranger = layers.find((layer) => !base.has(`${layer}.weight`));
  if (stranger !== undefined) throw new Error(`the adapter does not fit the model: ${stranger}`);
  const changed = new Map(layers.map((layer) => [`${layer}.weight`, layer]));
  let room = new Float32Array(0); // of all layers in turn, or all would wait to be collected
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
      if (room.length < rank * inputs) room = new Float32Array(rank * inputs);
      const readA = adapter.openRows(`${layer}.A`);
      for (let at = 0; at < rank; at += 1) room.set(readA(at), at * inputs);
      const a = room;
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

/** A row of W + scale · B·A, with A of rank × inputs and B of outputs × rank. */
function addProduct(values: Float32Array, { a, factors, scale }: ProductRow): Float32Array {
  const inputs = values.length;
  for (const [k, each] of factors.entries()) {
    const factor = scale * each;
    for (let at = 0; at < inputs; at += 1)
      values[at] = (values[at] as number) + factor * (a[k * inputs + at] as number);
  }
  return values;
}
