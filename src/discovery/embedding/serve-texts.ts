import { parentPort } from "node:worker_threads";
import type { FromModel, ToModel } from "./model-messages.ts";

type Embed = (texts: readonly string[]) => readonly Float32Array[] | Promise<readonly Float32Array[]>;

/** Serves embeddings in a worker thread: a text takes milliseconds of computing, which would block the main thread. */
export async function serveTexts(load: () => Embed | Promise<Embed>): Promise<void> {
  if (parentPort === null) throw new Error("a model is served only in a worker thread");
  const port = parentPort;
  const send = (message: FromModel): void => port.postMessage(message);
  try {
    const embed = await load();
    const answer = async ({ texts }: ToModel): Promise<void> => {
      try {
        send({ kind: "vectors", vectors: await embed(texts) });
      } catch (error) {
        send({ kind: "failed", reason: reasonOf(error) });
      }
    };
    port.on("message", (message: ToModel) => void answer(message));
    send({ kind: "ready" });
  } catch (error) {
    send({ kind: "unusable", reason: reasonOf(error) });
    port.close();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
