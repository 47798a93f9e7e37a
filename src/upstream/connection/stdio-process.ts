import { type ChildProcess, spawn } from "node:child_process";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/client";
import { isObject } from "../../base/json.ts";
import { findExcess, findId } from "../../base/message-scan.ts";
import { readLines, WholeLines } from "../../base/lines.ts";
import { type ProcessGroups, signalGroup } from "./process-groups.ts";
import type { ServerOutput } from "./server-output.ts";

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

export interface StdioProcessOptions {
  /** Called with lines on stdout that are not messages. */
  readonly onNoise: (line: string) => void;
  readonly maxMessageBytes: number;
  readonly groups: Pick<ProcessGroups, "add" | "remove">;
  /** Receives stderr. */
  readonly output?: ServerOutput | undefined;
}

/** Grace period after stdin was closed, and again after SIGTERM. */
const GRACE_MS = 1_000;
/** Time to read the remaining output of an exited process. */
const LAST_OUTPUT_MS = 200;
const LONGEST_STDERR_LINE = 2_000;
const STDERR_LINES_KEPT = 50;

/**
 * Runs a server as a child process. It leads its own process group, so that everything it starts (npx, shells, browsers) ends
 * with it. Its environment has a few safe variables and the configured ones, never the gateway's.
 */
export class StdioProcess implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  /** Marks a child process for the SDK, together with `pid`: one that ignores the question about its era is of 2025. */
  readonly stderr = null;
  readonly #server: StdioServer;
  readonly #options: StdioProcessOptions;
  #child: ChildProcess | undefined;
  readonly #output = new WholeLines();
  readonly #stderr: string[] = [];
  #stderrRest = "";
  #exit: string | undefined;
  #isClosed = false;

  constructor(server: StdioServer, options: StdioProcessOptions) {
    this.#server = server;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get stderrTail(): readonly string[] {
    return this.#stderrRest === "" ? this.#stderr : [...this.#stderr, this.#clean(this.#stderrRest)];
  }

  /** Describes how the process exited; undefined while it runs. */
  get exit(): string | undefined {
    return this.#exit;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#server;
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.#keepStderr(text));
    // Every message that waits for a slow reader adds listeners.
    child.stdin.setMaxListeners(0).on("error", (error) => this.onerror?.(error));
    child.once("exit", (code, signal) => {
      this.#exit ??= signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
      this.#afterExit(child);
    });
    child.once("close", () => {
      this.#isClosed = true;
      this.onclose?.();
    });
    return new Promise((resolve, reject) => {
      child.once("spawn", () => {
        if (child.pid !== undefined) this.#options.groups.add(child.pid);
        resolve();
      });
      child.on("error", (error) => {
        this.#exit ??= `"${command}" cannot be started (${error.message}); check its command and cwd`;
        reject(error);
      });
    });
  }

  /** Kills the rest of the group and closes the pipes: a descendant that holds them would hide the exit. */
  #afterExit(child: ChildProcess): void {
    this.#killGroup("SIGKILL");
    if (child.pid !== undefined) this.#options.groups.remove(child.pid);
    const destroy = (): void => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const timer = setTimeout(destroy, LAST_OUTPUT_MS).unref();
    child.once("close", () => clearTimeout(timer));
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || this.#isClosed)
      return Promise.reject(new Error("the server's process has ended"));
    // The process is about to end; its end fails the request, with the reason.
    if (!stdin.writable) return Promise.resolve();
    return new Promise((resolve) => {
      if (stdin.write(`${JSON.stringify(message)}\n`)) resolve();
      else stdin.once("drain", resolve).once("close", resolve);
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#exit ??= "it was stopped by PML";
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.stdin?.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await within(ended, GRACE_MS)) return;
      this.#killGroup(signal);
    }
    await within(ended, GRACE_MS);
  }

  #killGroup(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid !== undefined) signalGroup(pid, signal);
  }

  #receive(chunk: Buffer): void {
    const whole = this.#output.push(chunk);
    if (whole !== undefined) for (const line of readLines(whole)) this.#deliver(line);
    const { maxMessageBytes } = this.#options;
    if (this.#output.heldBytes <= maxMessageBytes) return;
    this.#exit = `it sent a line of more than ${maxMessageBytes} bytes (upstream.maxMessageBytes)`;
    this.#killGroup("SIGKILL");
  }

  #deliver(line: string): void {
    const message = parseMessage(line);
    if (message !== undefined) this.onmessage?.(message);
    else if (line.trim() !== "") this.#options.onNoise(line);
  }

  #keepStderr(text: string): void {
    const lines = `${this.#stderrRest}${text}`.split("\n");
    this.#stderrRest = (lines.pop() ?? "").slice(-LONGEST_STDERR_LINE);
    const whole = lines
      .filter((line) => line.trim() !== "")
      .map((line) => this.#clean(line.slice(0, LONGEST_STDERR_LINE)));
    if (whole.length > 0) this.#options.output?.write(whole);
    this.#stderr.push(...whole);
    this.#stderr.splice(0, this.#stderr.length - STDERR_LINES_KEPT);
  }

  #clean(text: string): string {
    return this.#options.output?.clean(text) ?? text;
  }
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  const excess = findExcess(line);
  if (excess !== undefined) return refuseAnswer(line, excess);
  try {
    const message: unknown = JSON.parse(line);
    if (!isObject(message) || !("jsonrpc" in message)) return undefined;
    return isAnswer(message) ? toReadable(message) : (message as JSONRPCMessage);
  } catch {
    return undefined;
  }
}

/** Fails the call that the message answers; undefined where it answers none. */
function refuseAnswer(line: string, excess: string): JSONRPCMessage | undefined {
  const id = findId(line);
  const message = `The server's answer ${excess}`;
  return id === null ? undefined : { jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InternalError, message } };
}

interface Answer {
  readonly id: RequestId;
  readonly result?: unknown;
  readonly error?: unknown;
}

function isAnswer(message: Record<string, unknown>): message is Answer & Record<string, unknown> {
  const { id, method } = message;
  return method === undefined && (typeof id === "string" || typeof id === "number");
}

/** Replaces an unreadable answer with an error: the SDK ignores it, and the call would run into its timeout. */
function toReadable({ id, result, error }: Answer): JSONRPCMessage {
  const answer = isObject(result) ? { jsonrpc: "2.0", id, result } : { jsonrpc: "2.0", id, error };
  if (isJSONRPCResultResponse(answer) || isJSONRPCErrorResponse(answer)) return answer;
  const message = "The server's answer has neither a result nor an error";
  return { jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InternalError, message } };
}

async function within(event: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  const happened = await Promise.race([event.then(() => true), late]);
  clearTimeout(timer);
  return happened;
}

/** Narrows a transport to a child process. */
export function asProcess(transport: Transport | undefined): StdioProcess | undefined {
  return transport instanceof StdioProcess ? transport : undefined;
}
