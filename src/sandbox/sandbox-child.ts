import { type ChildProcess, spawn } from "node:child_process";
import { encodeFrame, type Frame, FrameReader } from "./frames.ts";
import type { ChildCommand } from "./launcher.ts";

export interface ChildEvents {
  onFrame(frame: Frame): void;
  /** The process has exited and sends no more frames. */
  onExit(exit: ChildExit): void;
}

export interface ChildExit {
  /** For messages: `was ended by SIGKILL`. */
  readonly how: string;
  readonly stderr: string;
}

const STDERR_KEPT = 4_000;

/** A process that runs programs and exchanges frames. It only ends by being killed. */
export class SandboxChild {
  readonly pid: number | undefined;
  readonly #process: ChildProcess;
  readonly #events: ChildEvents;
  readonly #reader = new FrameReader();
  #stderr = "";
  #failure: string | undefined;
  #isKilled = false;
  #isGone = false;

  constructor({ file, args, env }: ChildCommand, events: ChildEvents) {
    this.#events = events;
    const child = spawn(file, args, { env, cwd: "/", stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    this.#process = child;
    this.pid = child.pid;
    child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-STDERR_KEPT);
    });
    // A broken pipe needs no handling: the exit of the process reports it.
    child.stdin.setMaxListeners(0).on("error", () => undefined);
    child.once("error", (error) => {
      this.#failure = `cannot be started: ${error.message}`;
      if (child.pid === undefined) this.#exited(null, null);
    });
    child.once("close", (code, signal) => this.#exited(code, signal));
  }

  send(type: string, text: string): void {
    const { stdin } = this.#process;
    if (stdin?.writable === true) stdin.write(encodeFrame(type, text));
  }

  /** Kills the process at once and ignores its remaining frames. */
  kill(): void {
    this.#isKilled = true;
    this.#process.kill("SIGKILL");
  }

  #receive(chunk: Buffer): void {
    if (this.#isKilled) return;
    let frames: readonly Frame[];
    try {
      frames = this.#reader.push(chunk);
    } catch (error) {
      this.#failure = `broke the protocol: ${error instanceof Error ? error.message : String(error)}`;
      this.kill();
      return;
    }
    for (const frame of frames) this.#passOn(frame);
  }

  /** Each frame may kill this child; drops the frames after it. */
  #passOn(frame: Frame): void {
    if (!this.#isKilled) this.#events.onFrame(frame);
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    this.#events.onExit({ how: this.#failure ?? how, stderr: this.#stderr });
  }
}
