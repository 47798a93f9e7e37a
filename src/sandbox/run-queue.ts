import type { ProgramRun } from "./program-run.ts";

/**
 * Queues runs that wait for a child. Nested runs come first: their callers hold a child while they wait. Each depth has
 * as many slots as the top, so no run ever waits for a slot that its own ancestor holds. The total is bounded by slots
 * times greatest depth.
 */
export class RunQueue {
  readonly #most: number;
  readonly #waiting: ProgramRun[] = [];
  readonly #running = new Map<number, number>();

  constructor(most: number) {
    this.#most = most;
  }

  add(run: ProgramRun): void {
    const at = this.#waiting.findIndex(({ depth }) => depth < run.depth);
    this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, run);
  }

  /** Requeues a run whose child exited before it began; it keeps its place at the front. */
  addFirst(run: ProgramRun): void {
    this.#waiting.unshift(run);
  }

  /** True if a queued run may start. */
  get hasNext(): boolean {
    return this.#waiting.some((run) => this.#mayStart(run));
  }

  /** Counts the queued runs that may start now. */
  countStartable(): number {
    const room = new Map(this.#running);
    return this.#waiting.filter(({ depth }) => {
      const running = room.get(depth) ?? 0;
      room.set(depth, running + 1);
      return running < this.#most;
    }).length;
  }

  takeNext(): ProgramRun | undefined {
    const at = this.#waiting.findIndex((run) => this.#mayStart(run));
    const [run] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (run !== undefined) this.#running.set(run.depth, (this.#running.get(run.depth) ?? 0) + 1);
    return run;
  }

  /** Removes and returns all queued runs. */
  takeAll(): ProgramRun[] {
    return this.#waiting.splice(0);
  }

  remove(run: ProgramRun): void {
    const at = this.#waiting.indexOf(run);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** Frees the slot of a run that has left its child. */
  release({ depth }: ProgramRun): void {
    this.#running.set(depth, (this.#running.get(depth) ?? 1) - 1);
  }

  #mayStart({ depth }: ProgramRun): boolean {
    return (this.#running.get(depth) ?? 0) < this.#most;
  }
}
