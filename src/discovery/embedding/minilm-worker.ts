import { workerData } from "node:worker_threads";
import { collectGarbage, collectWhenIdle } from "../../base/collect-garbage.ts";
import { addAdapter } from "./adapter.ts";
import { Encoder } from "./encoder/encoder.ts";
import { MOST_TOKENS } from "./encoder/shape.ts";
import { hashFile } from "./file-hash.ts";
import type { ModelPaths } from "./model-messages.ts";
import { SafetensorsFile } from "./encoder/safetensors.ts";
import { serveTexts } from "./serve-texts.ts";
import { readWordpiece } from "./wordpiece.ts";

/** The `[CLS]` and `[SEP]` tokens around a text. */
const [BEFORE, AFTER] = [101, 102] as const;

/** Thread of the model that ships with PML. */
await serveTexts(() => {
  const { weights, weightsHash, tokenizer, adapter } = workerData as ModelPaths;
  if (hashFile(weights) !== weightsHash) throw new Error(`${weights} does not have the expected checksum`);
  const encoder = readEncoder(weights, adapter);
  const wordpiece = readWordpiece(tokenizer);
  collectGarbage("last-resort"); // loading leaves as much garbage as the weights take
  collectWhenIdle();
  const toTokens = (text: string): number[] => [BEFORE, ...wordpiece.split(text).slice(0, MOST_TOKENS - 2), AFTER];
  return (texts) => group(texts.map(toTokens)).flatMap((some) => encoder.encode(some));
});

function readEncoder(weights: string, adapter: string | undefined): Encoder {
  const base = new SafetensorsFile(weights);
  if (adapter === undefined) return new Encoder(base);
  using changes = new SafetensorsFile(adapter);
  return new Encoder(addAdapter(base, changes));
}

/** Groups texts up to the encoder's token limit. */
function group(texts: readonly (readonly number[])[]): (readonly number[])[][] {
  const groups: (readonly number[])[][] = [];
  let left = 0;
  for (const tokens of texts) {
    if (tokens.length > left) {
      groups.push([]);
      left = MOST_TOKENS;
    }
    groups.at(-1)?.push(tokens);
    left -= tokens.length;
  }
  return groups;
}
