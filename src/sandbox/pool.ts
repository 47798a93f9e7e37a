import { availableParallelism } from "node:os";
import type { Logger } from "../base/log.ts";
import { Breaker } from "./breaker.ts";
import { Guardian } from "./guardian.ts";
import type { ChildCommand } from "./launcher.ts";
import { PooledChild } from "./pooled-child.ts";
import type { ProgramRun } from "./program-run.ts";
import { RunQueue } from "./run-queue.ts";
import { UsageWatch } from "./usage-watch.ts";

export interface PoolOptions {
  /** Resolves the command that starts children; called once, for the first child. */
  readonly launch: () => Promise<ChildCommand>;
  readonly idleChildren: number;
  readonly maxChildren: number;
  readonly log: Logger;
  readonly cores?: number;
}

/** Idle time after which a child above `idleChildren` is killed. */
const MAX_IDLE_MS = 5_000;
/** Idle time after which the pool prepares isolates. */
const QUIET_MS = 20;
/** Attempts per run: its child may exit before it begins. */
const MAX_ATTEMPTS = 3;

/**
 * Assigns runs to child processes. A child runs one program at a time and is killed unless it is as good as new
 * afterwards. No more children compute than there are processors: more would only slow each other down.
 */
export class Pool implements AsyncDisposable {
  readonly #options: PoolOptions;
  readonly #cores: number;
  readonly #queue: RunQueue;
  readonly #children = new Set<PooledChild>();
  readonly #breaker = new Breaker();
  readonly #guardian: Guardian;
  readonly #watch: UsageWatch;
  #command: ChildCommand | undefined;
  #launching: Promise<void> | undefined;
  #trimTimer: NodeJS.Timeout | undefined;
  #prepareTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #allExited: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#cores = options.cores ?? availableParallelism();
    this.#queue = new RunQueue(options.maxChildren);
    this.#guardian = new Guardian(options.log);
    this.#watch = new UsageWatch(() => [...this.#children].flatMap((child) => child.watched ?? []));
  }

  /** Process ids of the children, for tests and metrics. */
  get pids(): number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  /** Starts the spare children in the background. */
  warm(): void {
    this.#schedule();
  }

  submit(run: ProgramRun): void {
    if (run.hasEnded) return;
    if (this.#isClosed) run.end({ kind: "aborted", reason: new Error("the sandbox is closed") });
    else if (this.#breaker.isOpen) run.fail(this.#breaker.error);
    else this.#enqueue(run);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#trimTimer);
    clearTimeout(this.#prepareTimer);
    this.#watch[Symbol.dispose]();
    const closed = { kind: "aborted", reason: new Error("the sandbox was closed") } as const;
    for (const run of this.#queue.takeAll()) run.end(closed);
    for (const child of this.#children) child.run?.end(closed);
    for (const child of this.#children) child.kill();
    await this.#launching;
    if (this.#children.size > 0) await new Promise<void>((resolve) => (this.#allExited = resolve));
    await this.#guardian[Symbol.asyncDispose]();
  }

  #enqueue(run: ProgramRun): void {
    run.onEnd = () => this.#queue.remove(run);
    this.#queue.add(run);
    this.#schedule();
  }

  /** Assigns queued runs to free children, and starts more children where that helps. */
  #schedule(): void {
    if (this.#isClosed) return;
    for (let child = this.#findFree(); child !== undefined; child = this.#findFree()) {
      const run = this.#queue.takeNext();
      if (run === undefined) break;
      this.#assign(run, child);
    }
    if (this.#command === undefined) this.#prepareLaunch();
    else for (let missing = this.#countMissing(); missing > 0; missing -= 1) this.#start(this.#command);
    this.#trimLater();
  }

  /** Prefers an idle child to one that is still preparing; sending a run early saves a round trip. */
  #findFree(): PooledChild | undefined {
    const free = [...this.#children].filter((child) => child.isFree);
    return free.find(({ state }) => state === "idle") ?? free[0];
  }

  #assign(run: ProgramRun, child: PooledChild): void {
    run.onEnd = (isClean) => {
      this.#queue.release(run);
      child.finish(isClean);
      this.#schedule();
      this.#prepareLater();
    };
    child.start(run);
    this.#watch.wake();
  }

  /** Debounced: preparing an isolate costs some milliseconds of CPU, which a series of programs needs itself. */
  #prepareLater(): void {
    this.#prepareTimer ??= setTimeout(() => this.#prepareIsolates(), QUIET_MS).unref();
    this.#prepareTimer.refresh();
  }

  #prepareIsolates(): void {
    const children = [...this.#children];
    const isQuiet = children.every(({ run }) => run === undefined);
    if (isQuiet && children.filter((child) => child.prepareIsolates()).length > 0) this.#prepareLater();
  }

  /** Counts the children to start: for queued runs and as spares, as far as processors are free. */
  #countMissing(): number {
    if (this.#breaker.isOpen) return 0;
    const children = [...this.#children];
    const starting = children.filter(({ state }) => state === "starting").length;
    const busy = starting + children.filter((child) => child.isComputing()).length;
    const wanted = this.#queue.countStartable() - starting;
    const ready = starting + children.filter(({ isFree }) => isFree).length;
    const spare = Math.min(this.#options.idleChildren - ready, this.#options.maxChildren - children.length);
    return Math.min(Math.max(wanted, spare), this.#cores - busy);
  }

  #prepareLaunch(): void {
    this.#launching ??= this.#options.launch().then(
      (command) => {
        this.#command = command;
        this.#schedule();
      },
      (error: unknown) => {
        this.#launching = undefined;
        for (const run of this.#queue.takeAll()) run.fail(error);
      },
    );
  }

  #start(command: ChildCommand): void {
    const child: PooledChild = new PooledChild(command, this.#watch.measures, {
      onReady: () => {
        this.#breaker.succeeded();
        this.#schedule();
      },
      onWaiting: () => {
        if (this.#queue.hasNext) this.#schedule();
      },
      onExit: (reason) => this.#forget(child, reason),
    });
    this.#children.add(child);
    if (child.pid !== undefined) this.#guardian.add(child.pid);
  }

  #forget(child: PooledChild, reason: string): void {
    this.#children.delete(child);
    if (child.pid !== undefined) this.#guardian.remove(child.pid);
    if (child.state === "starting" && !this.#isClosed) this.#countFailedStart(reason);
    const run = child.detachRun();
    if (run !== undefined) this.#requeue(run, reason);
    if (this.#children.size === 0) this.#allExited?.();
    this.#schedule();
  }

  #countFailedStart(reason: string): void {
    this.#breaker.failed(reason);
    this.#options.log.warn({ reason }, "a sandbox process did not start");
    if (this.#breaker.isOpen) for (const run of this.#queue.takeAll()) run.fail(this.#breaker.error);
  }

  #requeue(run: ProgramRun, reason: string): void {
    this.#queue.release(run);
    run.onEnd = () => this.#queue.remove(run);
    if (run.attempts >= MAX_ATTEMPTS) run.end({ kind: "crashed", message: reason });
    else this.#queue.addFirst(run);
  }

  /** Kills surplus idle children after a burst. */
  #trimLater(): void {
    const excess = (): PooledChild[] =>
      [...this.#children].filter(({ state }) => state === "idle").slice(this.#options.idleChildren);
    if (this.#trimTimer !== undefined || excess().length === 0) return;
    this.#trimTimer = setTimeout(() => {
      this.#trimTimer = undefined;
      for (const child of excess()) child.kill();
    }, MAX_IDLE_MS).unref();
  }
}
