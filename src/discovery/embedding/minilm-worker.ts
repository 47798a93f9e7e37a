import { setFlagsFromString } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { createEmbedder, type ModelManifest } from "@lat.md/embed";
import { mergeAdapter } from "./merge-adapter.ts";
import type { FromModel, ModelPaths, ToModel } from "./model-messages.ts";

/** The thread that runs the model: it computes for tens of milliseconds a text and would hold up everything else. */
if (parentPort === null) throw new Error("minilm-worker runs as a worker thread only");
const port = parentPort;
const send = (message: FromModel): void => port.postMessage(message);

async function load(): Promise<(text: string) => Promise<number[]>> {
  const { manifest, adapter, folder } = workerData as ModelPaths;
  const weightsPath =
    adapter === undefined ? manifest.weightsPath : await mergeAdapter({ base: manifest.weightsPath, adapter, folder });
  const embedder = await createEmbedder({ model: { ...manifest, weightsPath } satisfies ModelManifest });
  const embed = async (text: string): Promise<number[]> => (await embedder.embed([text]))[0] ?? [];
  // Elsewhere in this process nothing is optimised, to save memory; this is the one module where it pays twofold.
  setFlagsFromString("--no-liftoff");
  await embed("ready").finally(() => setFlagsFromString("--liftoff"));
  return embed;
}

try {
  const embed = await load();
  port.on("message", ({ text }: ToModel) => {
    embed(text).then(
      (vector) => send({ kind: "vector", vector: Float32Array.from(vector) }),
      (error: unknown) => send({ kind: "failed", reason: String(error) }),
    );
  });
  send({ kind: "ready" });
} catch (error) {
  send({ kind: "unusable", reason: error instanceof Error ? error.message : String(error) });
  port.close();
}
