import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { workerData } from "node:worker_threads";
import type { TransformersModel } from "./model-messages.ts";
import { serveTexts } from "./serve-texts.ts";

/** The part of transformers.js in use. */
interface Transformers {
  readonly pipeline: (task: "feature-extraction", model: string) => Promise<Extract>;
}
type Extract = (
  texts: readonly string[],
  options: { readonly pooling: "mean"; readonly normalize: true },
) => Promise<{ readonly dims: readonly number[]; readonly data: ArrayLike<number> }>;

/** Thread of a model that runs on the user's transformers.js. */
await serveTexts(async () => {
  const { folder, model, dimensions } = workerData as TransformersModel;
  const entry = createRequire(join(folder, "package.json")).resolve("@huggingface/transformers");
  const { pipeline } = (await import(pathToFileURL(entry).href)) as Transformers;
  const extract = await pipeline("feature-extraction", model);
  return async (texts) => {
    const { dims, data } = await extract(texts, { pooling: "mean", normalize: true });
    const width = dims.at(-1);
    if (width !== dimensions) throw new Error(`${model} gives vectors of ${width} numbers, not of ${dimensions}`);
    const numbers = Float32Array.from(data);
    return texts.map((_, at) => numbers.slice(at * dimensions, (at + 1) * dimensions));
  };
});
