/** Runs `pml mcp` for a client that writes arbitrary bytes. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { splitLines } from "../../src/base/lines.ts";
import { type Era, envelope, type FuzzMessage } from "./fuzz-messages.ts";
import { findFlaw, isId, isObject } from "./json-rpc.ts";
import { spawnPml, until } from "./pml.ts";

type ShimAnswer = Record<string, unknown>;

export class FuzzShim implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #answers = new Map<string, ShimAnswer>();
  /** Requests that must be answered. */
  readonly #expected = new Map<string, FuzzMessage>();
  readonly #reading: Promise<void>;
  flaw: string | undefined;
  stderr = "";
  #probes = 0;

  constructor(home: string) {
    this.#child = spawnPml(["mcp"], { home });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    const { stdout } = this.#child;
    if (stdout === null) return;
    for await (const line of splitLines(stdout.setEncoding("utf8"))) {
      const flaw = findFlaw(line);
      if (flaw !== undefined) this.flaw ??= `${flaw}: ${line.slice(0, 500)}`;
      else {
        const message = JSON.parse(line) as ShimAnswer;
        if (message["method"] === undefined) this.#answers.set(key(message["id"]), message);
      }
    }
  }

  async send(message: FuzzMessage): Promise<void> {
    const id = findRequestId(message);
    if (id !== undefined) this.#expected.set(key(id), message);
    await this.#write(Buffer.concat([message.bytes.filter((byte) => byte !== 10), Buffer.from("\n")]));
  }

  async #write(bytes: Buffer): Promise<void> {
    const { stdin } = this.#child;
    if (stdin?.write(bytes) === false) await once(stdin, "drain");
  }

  /** Sends a valid request and returns its answer. */
  async ask(method: string, params: ShimAnswer): Promise<ShimAnswer> {
    this.#probes += 1;
    const id = `probe-${this.#probes}`;
    await this.#write(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`));
    await until(`${method} is answered`, () => this.#answers.has(key(id)) || this.#child.exitCode !== null, 20_000);
    return this.#answers.get(key(id)) ?? {};
  }

  async initialize(): Promise<ShimAnswer> {
    const clientInfo = { name: "fuzz", version: "1.0.0" };
    const answer = await this.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    await this.#write(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/initialized"}\n`));
    return answer;
  }

  /** True if a tool can be called. */
  async works(era: Era): Promise<boolean> {
    const meta = era === "modern" ? { _meta: envelope() } : {};
    const { result } = await this.ask("tools/call", { name: "chaos__echo", arguments: { text: "sound" }, ...meta });
    return JSON.stringify(result).includes("chaos: sound");
  }

  /** Returns the first request without an answer, or with a result where only an error is right. */
  findUnanswered(): { message: FuzzMessage; why: string } | undefined {
    for (const [id, message] of this.#expected) {
      const answer = this.#answers.get(id);
      if (answer === undefined) return { message, why: "it was not answered" };
      if (message.mustFail && answer["error"] === undefined) return { message, why: "it was answered with a result" };
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, "close");
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await closed;
    await this.#reading;
  }
}

/** Returns the id of a message that looks like a request, however malformed the rest is. */
function findRequestId({ kind, bytes }: FuzzMessage): string | number | undefined {
  if (kind === "duplicate id") return undefined; // two requests, whose answers cannot be distinguished
  try {
    const message: unknown = JSON.parse(bytes.toString());
    if (!isObject(message) || !isId(message["id"]) || typeof message["method"] !== "string") return undefined;
    // A subscription is acknowledged by a notification.
    return message["method"] === "subscriptions/listen" ? undefined : message["id"];
  } catch {
    return undefined;
  }
}

function key(id: unknown): string {
  return typeof id === "string" ? `"${id}"` : String(id);
}
