import type { Frame } from "./frames.ts";
import { FROM_CHILD, TO_CHILD } from "./guest/frame-types.mjs";
import type { ChildCommand } from "./launcher.ts";
import { findInnermost, findProcUsage } from "./process-usage.ts";
import type { ProgramRun } from "./program-run.ts";
import { type ChildExit, SandboxChild } from "./sandbox-child.ts";
import type { WatchedRun } from "./usage-watch.ts";

export interface PooledChildEvents {
  /** The child can take a run. */
  onReady(): void;
  /** The run awaits an answer, so a processor is free. */
  onWaiting(): void;
  onExit(reason: string): void;
}

/**
 * `preparing`: the run has ended, and the child creates the next isolate if none is left. `dead`: killed; the pool
 * ignores its frames.
 */
type ChildState = "starting" | "idle" | "running" | "preparing" | "dead";

/** Time limit for start-up. */
const START_MS = 30_000;
const PREPARE_MS = 5_000;
/** Replaces used children before the memory V8 retains of old isolates adds up. */
const MAX_RUNS = 2_000;
const MAX_IDLE_MB = 180;
const RUNS_BETWEEN_CHECKS = 32;
/** Isolates that an idle child prepares: enough for a burst of programs. */
const MAX_READY = 4;
/** Printed by V8 before it aborts. */
const OUT_OF_MEMORY = /is_heap_oom = 1|out of memory|allocation failed/i;

/** A child of the pool and its run, if any. */
export class PooledChild {
  state: ChildState = "starting";
  run: ProgramRun | undefined;
  readonly #child: SandboxChild;
  readonly #events: PooledChildEvents;
  readonly #isWrapped: boolean;
  readonly #isMeasured: boolean;
  #runs = 0;
  #ready = 1;
  /** The process to measure: the child itself, also inside a wrapper. */
  #innermost: number | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(command: ChildCommand, isMeasured: boolean, events: PooledChildEvents) {
    this.#events = events;
    this.#isWrapped = command.isWrapped;
    this.#isMeasured = isMeasured;
    this.#child = new SandboxChild(command, {
      onFrame: (frame) => this.#receive(frame),
      onExit: (exit) => this.#exited(exit),
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

  /** Assigns a run; a child that is still preparing starts it as soon as it can. */
  start(run: ProgramRun): void {
    this.run = run;
    if (this.state === "idle") this.state = "running";
    run.start({ isMeasured: this.#isMeasured, send: (type, text) => this.#child.send(type, text) });
  }

  /** Marks the run as ended. */
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

  /** Asks the child to prepare one more isolate; returns false if it is busy or has enough. */
  prepareIsolates(): boolean {
    if (this.state !== "idle" || this.#ready >= MAX_READY) return false;
    this.#ready += 1;
    this.#child.send(TO_CHILD.prepare, "");
    return true;
  }

  /** Returns the run that the child never began. */
  detachRun(): ProgramRun | undefined {
    const { run } = this;
    this.run = undefined;
    run?.detachRun();
    return run;
  }

  kill(): void {
    // A child that never was ready stays a failed start.
    if (this.state !== "starting") this.state = "dead";
    clearTimeout(this.#deadline);
    this.#child.kill();
  }

  #receive(frame: Frame): void {
    if (frame.type === FROM_CHILD.ready) this.#becomeReady();
    else if (this.run === undefined) this.kill(); // it sent a frame without a run
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

  #exited({ how, stderr }: ChildExit): void {
    clearTimeout(this.#deadline);
    const { run } = this;
    const reason = `The process that runs programs ${how}${findExitReason(stderr)}`;
    if (run?.hasBegun === true) {
      this.state = "dead";
      if (OUT_OF_MEMORY.test(stderr)) run.exceed("memoryMb");
      else run.end({ kind: "crashed", message: reason });
    }
    this.#events.onExit(reason);
  }

  #isWornOut(): boolean {
    if (this.#runs >= MAX_RUNS) return true;
    if (this.#runs % RUNS_BETWEEN_CHECKS !== 0 || this.#innermost === undefined) return false;
    return (findProcUsage(this.#innermost)?.rssMb ?? 0) > MAX_IDLE_MB;
  }

  #expectReady(withinMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.kill(), withinMs).unref();
  }
}

/** Finds the line of Node's last output that states the reason. */
function findExitReason(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const reason = lines.find((line) => /error|fatal/i.test(line)) ?? lines.at(-1);
  return reason === undefined ? "" : `: ${reason.trim().slice(0, 500)}`;
}
