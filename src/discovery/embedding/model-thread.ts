import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Embedder, Urgency } from "./embedder.ts";
import type { FromModel, ToModel } from "./model-messages.ts";

/** Batch limit, about a hundred tokens. */
const BATCH_CHARACTERS = 400;

interface ThreadOptions {
  /** Module of the thread beside this one, without its extension. */
  readonly script: string;
  /** Start data of the thread. */
  readonly started: unknown;
}

export interface ThreadEmbedderOptions extends ThreadOptions {
  readonly id: string;
  readonly dimensions: number;
}

/** Embeds in a worker thread that starts with the first text. */
export function createThreadEmbedder({ id, dimensions, ...options }: ThreadEmbedderOptions): Embedder {
  const thread = new ModelThread(options);
  return {
    id,
    dimensions,
    embed: (texts, urgency = "request") => Promise.all(texts.map((text) => thread.embed(text, urgency))),
    get ready() {
      return thread.ready;
    },
    prepare: () => thread.start(),
    [Symbol.asyncDispose]: () => thread.stop(),
  };
}

interface QueuedText {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: Error) => void;
}

/** Sends short texts in batches and long ones alone, so that a request never waits long behind documents. */
class ModelThread {
  readonly #options: ThreadOptions;
  readonly #queues: Readonly<Record<Urgency, QueuedText[]>> = { request: [], background: [] };
  #worker: Worker | undefined;
  #ready = false;
  #current: readonly QueuedText[] = [];
  #broken: Error | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
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
    const { script, started } = this.#options;
    const file = new URL(`${script}${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(file, { workerData: started, name: "model" });
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
    // Only pending work keeps the process alive.
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

/** Takes a batch from the front of a queue: one text, and the following ones up to the limit. */
function takeSome(queue: QueuedText[]): QueuedText[] {
  let characters = 0;
  const end = queue.findIndex(({ text }, at) => (characters += text.length) > BATCH_CHARACTERS && at > 0);
  return queue.splice(0, end < 0 ? queue.length : end);
}
