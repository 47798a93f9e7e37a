import { parentPort, workerData } from "node:worker_threads";
import { addAdapter } from "./adapter.ts";
import { Encoder } from "./encoder/encoder.ts";
import { MOST_TOKENS } from "./encoder/shape.ts";
import type { FromModel, ModelPaths, ToModel } from "./model-messages.ts";
import { SafetensorsFile } from "./safetensors.ts";
import { readWordpiece } from "./wordpiece.ts";

/** The thread that runs the model: it computes for milliseconds a text and would hold up everything else. */
if (parentPort === null) throw new Error("minilm-worker runs as a worker thread only");
const port = parentPort;
const send = (message: FromModel): void => port.postMessage(message);

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What the model was trained to see before and after a text. */
const [BEFORE, AFTER] = [101, 102] as const;

function load(): (texts: readonly string[]) => Float32Array[] {
  const { weights, tokenizer, adapter } = workerData as ModelPaths;
  const encoder = readEncoder(weights, adapter);
  const wordpiece = readWordpiece(tokenizer);
  const toTokens = (text: string): number[] => [BEFORE, ...wordpiece.split(text).slice(0, MOST_TOKENS - 2), AFTER];
  return (texts) => group(texts.map(toTokens)).flatMap((some) => encoder.encode(some));
}

function readEncoder(weights: string, adapter: string | undefined): Encoder {
  using base = new SafetensorsFile(weights);
  if (adapter === undefined) return new Encoder(base);
  using changes = new SafetensorsFile(adapter);
  return new Encoder(addAdapter(base, changes));
}

/** As many texts together as the encoder takes. */
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

try {
  const embed = load();
  port.on("message", ({ texts }: ToModel) => {
    try {
      send({ kind: "vectors", vectors: embed(texts) });
    } catch (error) {
      send({ kind: "failed", reason: reasonOf(error) });
    }
  });
  send({ kind: "ready" });
} catch (error) {
  send({ kind: "unusable", reason: reasonOf(error) });
  port.close();
}
