import { readFloats, type SafetensorsFile, type Tensor, type Tensors } from "./safetensors.ts";

/** The model with an adapter: two small matrices for each layer that it changes, whose product is added. */
export function addAdapter(base: Tensors, adapter: SafetensorsFile): Tensors {
  const scale = Number(adapter.metadata["scale"]);
  const layers = adapter.names.filter((name) => name.endsWith(".A")).map((name) => name.slice(0, -".A".length));
  const stranger = layers.find((layer) => !base.has(`${layer}.weight`));
  if (stranger !== undefined) throw new Error(`the adapter does not fit the model: ${stranger}`);
  const changed = new Map(layers.map((layer) => [`${layer}.weight`, layer]));
  return {
    has: (name) => base.has(name),
    read(name) {
      const layer = changed.get(name);
      const weight = base.read(name);
      if (layer === undefined) return weight;
      return addProduct(weight, { a: adapter.read(`${layer}.A`), b: adapter.read(`${layer}.B`), scale });
    },
  };
}

/** W + scale · B·A, with A of rank × inputs and B of outputs × rank. */
function addProduct(
  weight: Tensor,
  { a, b, scale }: { readonly a: Tensor; readonly b: Tensor; readonly scale: number },
): Tensor {
  const [outputs = 0, inputs = 0] = weight.shape;
  const rank = a.shape[0] ?? 0;
  const [values, ofA, ofB] = [Float32Array.from(readFloats(weight)), readFloats(a), readFloats(b)];
  for (let row = 0; row < outputs; row += 1) {
    for (let k = 0; k < rank; k += 1) {
      const factor = scale * (ofB[row * rank + k] as number);
      for (let column = 0; column < inputs; column += 1) {
        const at = row * inputs + column;
        values[at] = (values[at] as number) + factor * (ofA[k * inputs + column] as number);
      }
    }
  }
  return { dtype: "F32", shape: weight.shape, bytes: new Uint8Array(values.buffer) };
}
