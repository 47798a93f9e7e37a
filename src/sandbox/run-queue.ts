import type { ProgramRun } from "./program-run.ts";

/**
 * Runs that wait for a child. Nested ones come first: somebody who holds a child waits for them. At each depth there is room
 * for as many as at the top, so that no run ever waits for a place that its own ancestor holds, and there are never more
 * than that many times the greatest depth.
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

  /** One whose child ended before it began: it was first already. */
  addFirst(run: ProgramRun): void {
    this.#waiting.unshift(run);
  }

  /** Whether one of those that wait may start. */
  get hasNext(): boolean {
    return this.#waiting.some((run) => this.#mayStart(run));
  }

  /** How many of those that wait may start now. */
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

  /** Everything that waits, which then no longer does. */
  takeAll(): ProgramRun[] {
    return this.#waiting.splice(0);
  }

  remove(run: ProgramRun): void {
    const at = this.#waiting.indexOf(run);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** A run that was taken has left its child. */
  release({ depth }: ProgramRun): void {
    this.#running.set(depth, (this.#running.get(depth) ?? 1) - 1);
  }

  #mayStart({ depth }: ProgramRun): boolean {
    return (this.#running.get(depth) ?? 0) < this.#most;
  }
}
