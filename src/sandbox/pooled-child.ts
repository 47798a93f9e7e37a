import type { Frame } from "./frames.ts";
import { FROM_CHILD, TO_CHILD } from "./guest/frame-types.mjs";
import type { LaunchCommand } from "./launcher.ts";
import { findInnermost, findProcUsage } from "./process-usage.ts";
import type { ProgramRun } from "./program-run.ts";
import { type ChildExit, SandboxChild } from "./sandbox-child.ts";
import type { WatchedRun } from "./usage-watch.ts";

export interface PooledChildEvents {
  /** It can take a run. */
  onReady(): void;
  /** Its run waits for an answer, so that a processor is free. */
  onWaiting(): void;
  onGone(reason: string): void;
}

/**
 * `preparing`: a run has ended and, if there is none left, the isolate for the next is being made. `dead`: killed; what it still says is not heard.
 */
type ChildState = "starting" | "idle" | "running" | "preparing" | "dead";

/** How long a child may take until it is ready. */
const START_MS = 30_000;
const PREPARE_MS = 5_000;
/** Used children are replaced before what V8 keeps of old isolates adds up. */
const MOST_RUNS = 2_000;
const MOST_IDLE_MB = 180;
const RUNS_BETWEEN_LOOKS = 32;
/** So many isolates it has ready when there was time to make them: enough for the programs of a rush. */
const MOST_READY = 4;
/** What V8 says before it gives up. */
const OUT_OF_MEMORY = /is_heap_oom = 1|out of memory|allocation failed/i;

/** A child of the pool and the run it has, if any. */
export class PooledChild {
  state: ChildState = "starting";
  run: ProgramRun | undefined;
  readonly #child: SandboxChild;
  readonly #events: PooledChildEvents;
  readonly #isWrapped: boolean;
  readonly #isMeasured: boolean;
  #runs = 0;
  #ready = 1;
  /** The process to look at: the child itself, also where another was started around it. */
  #innermost: number | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(command: LaunchCommand, isMeasured: boolean, events: PooledChildEvents) {
    this.#events = events;
    this.#isWrapped = command.isWrapped;
    this.#isMeasured = isMeasured;
    this.#child = new SandboxChild(command, {
      onFrame: (frame) => this.#receive(frame),
      onGone: (exit) => this.#gone(exit),
    });
    this.#expectReady(START_MS);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isFree(): boolean {
    return this.run === undefined && (this.state === "idle" || this.state === "preparing");
  }

  isComputing(): boolean {
    return this.state === "preparing" || (this.state === "running" && this.run?.calls.isWaiting === false);
  }

  get watched(): WatchedRun | undefined {
    const pid = this.#innermost;
    return this.run === undefined || pid === undefined ? undefined : { run: this.run, pid };
  }

  /** Hands it a run; one that is still preparing takes it up as soon as it can. */
  start(run: ProgramRun): void {
    this.run = run;
    if (this.state === "idle") this.state = "running";
    run.start({ isMeasured: this.#isMeasured, send: (type, text) => this.#child.send(type, text) });
  }

  /** Its run has ended. */
  finish(isClean: boolean): void {
    this.run = undefined;
    this.#runs += 1;
    this.#ready = Math.max(this.#ready - 1, 1);
    if (!isClean || this.#isWornOut()) this.kill();
    else {
      this.state = "preparing";
      this.#expectReady(PREPARE_MS);
    }
  }

  /** Has it make one more isolate ready; false: it has enough, or no time. */
  stockUp(): boolean {
    if (this.state !== "idle" || this.#ready >= MOST_READY) return false;
    this.#ready += 1;
    this.#child.send(TO_CHILD.prepare, "");
    return true;
  }

  /** The run it had and never began with. */
  takeBack(): ProgramRun | undefined {
    const { run } = this;
    this.run = undefined;
    run?.takeBack();
    return run;
  }

  kill(): void {
    // One that never was ready stays a failed start.
    if (this.state !== "starting") this.state = "dead";
    clearTimeout(this.#deadline);
    this.#child.kill();
  }

  #receive(frame: Frame): void {
    if (frame.type === FROM_CHILD.ready) this.#becomeReady();
    else if (this.run === undefined) this.kill(); // nobody asked it anything
    else this.#passOn(frame, this.run);
  }

  #becomeReady(): void {
    clearTimeout(this.#deadline);
    this.#innermost ??= this.#isWrapped && this.pid !== undefined ? findInnermost(this.pid) : this.pid;
    this.state = this.run === undefined ? "idle" : "running";
    this.#events.onReady();
  }

  #passOn(frame: Frame, run: ProgramRun): void {
    const wasComputing = this.isComputing();
    run.receive(frame);
    if (wasComputing && this.run === run && !this.isComputing()) this.#events.onWaiting();
  }

  #gone({ how, stderr }: ChildExit): void {
    clearTimeout(this.#deadline);
    const { run } = this;
    const reason = `The process that runs programs ${how}${lastWords(stderr)}`;
    if (run?.hasBegun === true) {
      this.state = "dead";
      if (OUT_OF_MEMORY.test(stderr)) run.exceed("memoryMb");
      else run.end({ kind: "crashed", message: reason });
    }
    this.#events.onGone(reason);
  }

  #isWornOut(): boolean {
    if (this.#runs >= MOST_RUNS) return true;
    if (this.#runs % RUNS_BETWEEN_LOOKS !== 0 || this.#innermost === undefined) return false;
    return (findProcUsage(this.#innermost)?.rssMb ?? 0) > MOST_IDLE_MB;
  }

  #expectReady(withinMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.kill(), withinMs).unref();
  }
}

/** The line that says why, in what Node prints when it ends. */
function lastWords(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const reason = lines.find((line) => /error|fatal/i.test(line)) ?? lines.at(-1);
  return reason === undefined ? "" : `: ${reason.trim().slice(0, 500)}`;
}
