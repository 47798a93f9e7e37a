import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Embedder, Urgency } from "./embedder.ts";
import type { FromModel, ToModel } from "./model-messages.ts";

/** Of texts that are embedded together: about a hundred tokens. */
const CHARACTERS_AT_ONCE = 400;

interface ThreadOptions {
  /** The module of the thread, beside this one and without what its name ends with. */
  readonly script: string;
  /** What it is started with. */
  readonly started: unknown;
}

export interface ThreadEmbedderOptions extends ThreadOptions {
  readonly id: string;
  readonly dimensions: number;
}

/** A model in a thread of its own, which starts with the first text. */
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

interface Waiting {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: Error) => void;
}

/** Short texts go to the thread together, longer ones alone, so that a request never waits long for documents. */
class ModelThread {
  readonly #options: ThreadOptions;
  readonly #queues: Readonly<Record<Urgency, Waiting[]>> = { request: [], background: [] };
  #worker: Worker | undefined;
  #ready = false;
  #current: readonly Waiting[] = [];
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
