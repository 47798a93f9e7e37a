import { availableParallelism } from "node:os";
import type { Logger } from "../base/log.ts";
import { Breaker } from "./breaker.ts";
import { Guardian } from "./guardian.ts";
import type { LaunchCommand } from "./launcher.ts";
import { PooledChild } from "./pooled-child.ts";
import type { ProgramRun } from "./program-run.ts";
import { RunQueue } from "./run-queue.ts";
import { UsageWatch } from "./usage-watch.ts";

export interface PoolOptions {
  /** How children are started; asked for once, when the first is needed. */
  readonly launch: () => Promise<LaunchCommand>;
  readonly idleChildren: number;
  readonly maxChildren: number;
  readonly log: Logger;
  readonly cores?: number;
}

/** A child that nobody needed for this long goes, unless it is one of those that are kept ready. */
const LINGER_MS = 5_000;
/** After this long without a run there is time to make isolates ready. */
const QUIET_MS = 20;
/** How often a run may be given to another child because its own ended before it began. */
const MOST_TRIES = 3;

/**
 * The children and the runs that want one. A child runs one program at a time; one that is not as good as new afterwards is
 * ended. There are only as many computing as there are processors: more would only slow each other down.
 */
export class Pool implements AsyncDisposable {
  readonly #options: PoolOptions;
  readonly #cores: number;
  readonly #queue: RunQueue;
  readonly #children = new Set<PooledChild>();
  readonly #breaker = new Breaker();
  readonly #guardian: Guardian;
  readonly #watch: UsageWatch;
  #command: LaunchCommand | undefined;
  #launching: Promise<void> | undefined;
  #trimmer: NodeJS.Timeout | undefined;
  #stocker: NodeJS.Timeout | undefined;
  #isClosed = false;
  #allGone: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#cores = options.cores ?? availableParallelism();
    this.#queue = new RunQueue(options.maxChildren);
    this.#guardian = new Guardian(options.log);
    this.#watch = new UsageWatch(() => [...this.#children].flatMap((child) => child.watched ?? []));
  }

  /** Processes of the children there are, for tests and figures. */
  get pids(): number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  /** Starts the spare children, in the background. */
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
    clearTimeout(this.#trimmer);
    clearTimeout(this.#stocker);
    this.#watch[Symbol.dispose]();
    const closed = { kind: "aborted", reason: new Error("the sandbox was closed") } as const;
    for (const run of this.#queue.takeAll()) run.end(closed);
    for (const child of this.#children) child.run?.end(closed);
    for (const child of this.#children) child.kill();
    await this.#launching;
    if (this.#children.size > 0) await new Promise<void>((resolve) => (this.#allGone = resolve));
    await this.#guardian[Symbol.asyncDispose]();
  }

  #enqueue(run: ProgramRun): void {
    run.onEnd = () => this.#queue.remove(run);
    this.#queue.add(run);
    this.#schedule();
  }

  /** Gives runs to children, and starts further children where that helps. */
  #schedule(): void {
    if (this.#isClosed) return;
    for (let child = this.#findFree(); child !== undefined; child = this.#findFree()) {
      const run = this.#queue.takeNext();
      if (run === undefined) break;
      this.#hand(run, child);
    }
    if (this.#command === undefined) this.#prepareLaunch();
    else for (let missing = this.#countMissing(); missing > 0; missing -= 1) this.#start(this.#command);
    this.#trimLater();
  }

  /** One that is ready, or else one that soon is: a run that is given to it early saves a round trip. */
  #findFree(): PooledChild | undefined {
    const free = [...this.#children].filter((child) => child.isFree);
    return free.find(({ state }) => state === "idle") ?? free[0];
  }

  #hand(run: ProgramRun, child: PooledChild): void {
    run.onEnd = (isClean) => {
      this.#queue.release(run);
      child.finish(isClean);
      this.#schedule();
      this.#stockUpLater();
    };
    child.start(run);
    this.#watch.wake();
  }

  /** Making an isolate takes a processor for some milliseconds, which programs that follow each other need themselves. */
  #stockUpLater(): void {
    this.#stocker ??= setTimeout(() => this.#stockUp(), QUIET_MS).unref();
    this.#stocker.refresh();
  }

  #stockUp(): void {
    const children = [...this.#children];
    const isQuiet = children.every(({ run }) => run === undefined);
    if (isQuiet && children.filter((child) => child.stockUp()).length > 0) this.#stockUpLater();
  }

  /** How many children to start: for runs that wait, and to have some ready, as far as there are processors for them. */
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

  #start(command: LaunchCommand): void {
    const child: PooledChild = new PooledChild(command, this.#watch.measures, {
      onReady: () => {
        this.#breaker.succeeded();
        this.#schedule();
      },
      onWaiting: () => {
        if (this.#queue.hasNext) this.#schedule();
      },
      onGone: (reason) => this.#forget(child, reason),
    });
    this.#children.add(child);
    if (child.pid !== undefined) this.#guardian.add(child.pid);
  }

  #forget(child: PooledChild, reason: string): void {
    this.#children.delete(child);
    if (child.pid !== undefined) this.#guardian.remove(child.pid);
    if (child.state === "starting" && !this.#isClosed) this.#noteFailure(reason);
    const run = child.takeBack();
    if (run !== undefined) this.#tryAgain(run, reason);
    if (this.#children.size === 0) this.#allGone?.();
    this.#schedule();
  }

  #noteFailure(reason: string): void {
    this.#breaker.failed(reason);
    this.#options.log.warn({ reason }, "a sandbox process did not start");
    if (this.#breaker.isOpen) for (const run of this.#queue.takeAll()) run.fail(this.#breaker.error);
  }

  #tryAgain(run: ProgramRun, reason: string): void {
    this.#queue.release(run);
    run.onEnd = () => this.#queue.remove(run);
    if (run.timesTakenBack >= MOST_TRIES) run.end({ kind: "crashed", message: reason });
    else this.#queue.addFirst(run);
  }

  /** After a rush there are more children than need to be kept. */
  #trimLater(): void {
    const excess = (): PooledChild[] =>
      [...this.#children].filter(({ state }) => state === "idle").slice(this.#options.idleChildren);
    if (this.#trimmer !== undefined || excess().length === 0) return;
    this.#trimmer = setTimeout(() => {
      this.#trimmer = undefined;
      for (const child of excess()) child.kill();
    }, LINGER_MS).unref();
  }
}
