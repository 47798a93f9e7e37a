import type { SafetensorsFile, Tensors } from "./safetensors.ts";

/** The model with an adapter: two small matrices for each layer that it changes, whose product is added. */
export function addAdapter(base: Tensors, adapter: SafetensorsFile): Tensors {
  const scale = Number(adapter.metadata["scale"]);
  const layers = adapter.names.filter((name) => name.endsWith(".A")).map((name) => name.slice(0, -".A".length));
  const stranger = layers.find((layer) => !base.has(`${layer}.weight`));
  if (stranger !== undefined) throw new Error(`the adapter does not fit the model: ${stranger}`);
  const changed = new Map(layers.map((layer) => [`${layer}.weight`, layer]));
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
      const product = { a: adapter.readFloats(`${layer}.A`), b: adapter.readFloats(`${layer}.B`), scale };
      return (row) => addProduct(readRow(row), { ...product, row });
    },
  };
}

interface ProductRow {
  readonly a: Float32Array;
  readonly b: Float32Array;
  readonly scale: number;
  readonly row: number;
}

/** A row of W + scale · B·A, with A of rank × inputs and B of outputs × rank. */
function addProduct(values: Float32Array, { a, b, scale, row }: ProductRow): Float32Array {
  const inputs = values.length;
  const rank = a.length / inputs;
  for (let k = 0; k < rank; k += 1) {
    const factor = scale * (b[row * rank + k] as number);
    for (let at = 0; at < inputs; at += 1)
      values[at] = (values[at] as number) + factor * (a[k * inputs + at] as number);
  }
  return values;
}
