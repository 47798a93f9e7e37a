import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import {
  formatSafetensors,
  parseSafetensors,
  readFloats,
  type Safetensors,
  type Tensor,
  toHalf,
} from "./safetensors.ts";

export interface MergeOptions {
  /** The weights of the model. */
  readonly base: string;
  /** Two small matrices for each changed layer: what is added is their product. */
  readonly adapter: string;
  /** Where the merged weights are kept, under a name made of what both files contain. */
  readonly folder: string;
}

/** Returns the path of the merged weights, and makes them if they are not there yet. */
export async function mergeAdapter({ base, adapter, folder }: MergeOptions): Promise<string> {
  const [weights, changes] = await Promise.all([readBytes(base), readBytes(adapter)]);
  const path = join(folder, `minilm-${shortHash(weights)}-${shortHash(changes)}.safetensors`);
  if (existsSync(path)) return path;
  await mkdir(folder, { recursive: true });
  const merged = addChanges(parseSafetensors(weights), parseSafetensors(changes));
  // Two that start at once both write a whole file; whoever renames last wins with the same bytes.
  const draft = `${path}.${process.pid}`;
  await using file = await open(draft, "w");
  for (const part of formatSafetensors(merged)) await file.write(part);
  await file.sync();
  await rename(draft, path);
  return path;
}

async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(path));
}

function shortHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 12);
}

function addChanges(base: Safetensors, changes: Safetensors): Safetensors {
  const scale = Number(changes.metadata["scale"]);
  const layers = [...changes.tensors.keys()].filter((name) => name.endsWith(".A")).map((name) => name.slice(0, -2));
  const tensors = new Map(base.tensors);
  for (const layer of layers) {
    const name = [`${layer}.weight`, `bert.${layer}.weight`].find((each) => tensors.has(each));
    const [a, b] = [changes.tensors.get(`${layer}.A`), changes.tensors.get(`${layer}.B`)];
    const weight = name === undefined ? undefined : tensors.get(name);
    if (name === undefined || weight === undefined || a === undefined || b === undefined)
      throw new Error(`the adapter does not fit the model: ${layer}`);
    tensors.set(name, addProduct(weight, { a, b, scale }));
  }
  return { metadata: base.metadata, tensors };
}

/** W + scale · B·A, with A of rank × inputs and B of outputs × rank. */
function addProduct(
  weight: Tensor,
  { a, b, scale }: { readonly a: Tensor; readonly b: Tensor; readonly scale: number },
): Tensor {
  const [outputs = 0, inputs = 0] = weight.shape;
  const rank = a.shape[0] ?? 0;
  const [values, ofA, ofB] = [readFloats(weight), readFloats(a), readFloats(b)];
  for (let row = 0; row < outputs; row += 1) {
    for (let k = 0; k < rank; k += 1) {
      const factor = scale * (ofB[row * rank + k] as number);
      for (let column = 0; column < inputs; column += 1) {
        const at = row * inputs + column;
        values[at] = (values[at] as number) + factor * (ofA[k * inputs + column] as number);
      }
    }
  }
  return toHalf(values, weight.shape);
}
