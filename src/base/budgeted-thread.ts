import { Worker } from "node:worker_threads";

/** Limits of one task of a thread. */
export interface ThreadLimits {
  readonly maxMillis: number;
  readonly maxHeapMb: number;
}

export type ThreadOutcome<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "exceeded"; readonly limit: keyof ThreadLimits };

export interface BudgetedThreadOptions {
  /** The module of the thread: it posts `undefined` when it is ready, then one answer per message. */
  readonly script: URL;
  readonly name: string;
  readonly limits: () => ThreadLimits;
}

interface QueuedTask {
  readonly task: unknown;
  readonly resolve: (outcome: ThreadOutcome<unknown>) => void;
  readonly reject: (error: Error) => void;
}

/** Native code recurses on this stack as well; a main thread has as much. */
const STACK_MB = 8;

/**
 * Works on input of others in a thread of its own, one task after the other. A task that exceeds its limits ends with the
 * thread, and the next task starts another one: whatever the input does, the calling thread goes on serving.
 */
export class BudgetedThread<Task, Answer> implements AsyncDisposable {
  readonly #options: BudgetedThreadOptions;
  readonly #queue: QueuedTask[] = [];
  #worker: Worker | undefined;
  #ready = false;
  #current: QueuedTask | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: BudgetedThreadOptions) {
    this.#options = options;
  }

  run(task: Task): Promise<ThreadOutcome<Answer>> {
    return new Promise<ThreadOutcome<unknown>>((resolve, reject) => {
      this.#queue.push({ task, resolve, reject });
      this.#next();
    }) as Promise<ThreadOutcome<Answer>>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#next();
    await this.#end(new Error("PML is stopping"));
  }

  #next(): void {
    if (this.#closed) for (const { reject } of this.#queue.splice(0)) reject(new Error("PML is stopping"));
    if (this.#current !== undefined) return;
    const next = this.#queue[0];
    if (next === undefined) {
      this.#worker?.unref(); // only work keeps the process alive
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.ref();
    if (!this.#ready) return;
    this.#current = this.#queue.shift();
    this.#timer = setTimeout(() => this.#expire(next), this.#options.limits().maxMillis);
    this.#worker.postMessage(next.task);
  }

  #start(): Worker {
    const { script, name, limits } = this.#options;
    const { maxHeapMb } = limits();
    const worker = new Worker(script, {
      name,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, stackSizeMb: STACK_MB },
    });
    worker.on("message", (answer: unknown) => {
      if (worker === this.#worker) this.#receive(answer);
    });
    worker.on("error", (error: Error & { code?: string }) => {
      if (worker !== this.#worker) return;
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") this.#exceed("maxHeapMb");
      else void this.#end(error);
    });
    worker.on("exit", (code) => {
      if (worker === this.#worker) void this.#end(new Error(`the thread "${name}" ended with code ${code}`));
    });
    return worker;
  }

  #receive(answer: unknown): void {
    if (this.#ready) this.#finish()?.resolve({ kind: "answered", answer });
    else this.#ready = true;
    this.#next();
  }

  /** Looks for an answer once more: where this thread was busy, the timer is served first. */
  #expire(task: QueuedTask): void {
    setImmediate(() => {
      if (this.#current === task) this.#exceed("maxMillis");
    });
  }

  #exceed(limit: keyof ThreadLimits): void {
    this.#finish()?.resolve({ kind: "exceeded", limit });
    void this.#end(new Error(`the thread "${this.#options.name}" did not start within its memory`));
  }

  /** Ends the thread; a task that it has not answered fails. */
  async #end(error: Error): Promise<void> {
    const worker = this.#worker;
    const started = this.#ready;
    this.#worker = undefined;
    this.#ready = false;
    this.#finish()?.reject(error);
    // A thread that cannot start would be started again and again.
    if (!started && worker !== undefined) this.#queue.shift()?.reject(error);
    await worker?.terminate();
    this.#next();
  }

  #finish(): QueuedTask | undefined {
    const current = this.#current;
    clearTimeout(this.#timer);
    this.#current = undefined;
    return current;
  }
}
