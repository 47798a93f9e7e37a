import type { Duplex } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from "@modelcontextprotocol/server";
import { INVALID_REQUEST, parseText, readId } from "./parse-message.ts";

const LINE_FEED = 10;
const LONGEST_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Transports one message per line over a socket. Answers unreadable lines with an error: the SDK's transport is silent,
 * and a client would wait for an answer forever.
 */
export class LineTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #socket: Duplex;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #closed = false;

  constructor(socket: Duplex) {
    this.#socket = socket.setMaxListeners(0); // every message that waits for a slow reader adds listeners
  }

  async start(): Promise<void> {
    this.#socket
      .on("data", (chunk: Buffer) => this.#receive(chunk))
      .on("error", (error) => this.onerror?.(error))
      .once("end", () => void this.close())
      .once("close", () => void this.close());
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.reject(new Error("the connection is closed"));
    if (this.#socket.write(`${JSON.stringify(message)}\n`)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#socket.off("drain", done).off("close", done);
        resolve();
      };
      this.#socket.on("drain", done).on("close", done);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts = [];
    this.#socket.end();
    this.onclose?.();
  }

  /** Splits lines as bytes: a character may be split between two chunks. */
  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      this.#finishLine();
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Buffers part of a line; keeps only the size of one that is too long. */
  #keep(part: Buffer): void {
    this.#partBytes += part.length;
    if (this.#partBytes > LONGEST_LINE_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  #finishLine(): void {
    const bytes = this.#partBytes;
    const line = Buffer.concat(this.#parts).toString("utf8").trim();
    this.#parts = [];
    this.#partBytes = 0;
    if (this.#closed) return;
    if (bytes > LONGEST_LINE_BYTES) {
      const message = `The message has ${bytes} bytes; the most are ${LONGEST_LINE_BYTES}`;
      this.#refuse({ id: null, code: INVALID_REQUEST, message });
    } else if (line !== "") this.#deliver(line);
  }

  #deliver(line: string): void {
    const parsed = parseText(line);
    if (parsed.kind === "refused") {
      this.#refuse(parsed);
      return;
    }
    const message = toMessage(parsed.value);
    if (message !== undefined) this.onmessage?.(message);
    else {
      const id = readId(parsed.value);
      this.#refuse({ id, code: INVALID_REQUEST, message: "Invalid request: this is not a JSON-RPC 2.0 message" });
    }
  }

  #refuse({ id, code, message }: { id: RequestId | null; code: number; message: string }): void {
    this.#socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }
}

function toMessage(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return undefined; // the details only list the four shapes it does not match
  }
}
