import { Duplex } from "node:stream";
import type { Worker } from "node:worker_threads";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

const TERMINATE = "X".charCodeAt(0);

/**
 * Looks like a TCP socket to the `pg` driver and carries the wire protocol to the engine's thread, so that both engines
 * share one driver, with the same types, errors and notifications.
 */
export class WireSocket extends Duplex {
  readonly #worker: Worker;
  readonly #receive = (message: FromWorker): void => {
    if (message.kind === "bytes") {
      this.push(Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.byteLength));
    }
  };

  constructor(worker: Worker) {
    super();
    this.#worker = worker;
    worker.on("message", this.#receive);
  }

  connect(): this {
    process.nextTick(() => this.emit("connect"));
    return this;
  }

  // Socket options have no meaning for a message port.
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {
    // Bytes are pushed on arrival; an answer is never larger than the driver requested.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(chunk);
    done();
  }

  /** The driver corks parse, bind, execute and sync: they travel as one message and run as one. */
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#worker.off("message", this.#receive);
    done(error);
  }

  #send(bytes: Uint8Array): void {
    // Drops the driver's Terminate message, which would shut down the engine: its opener closes it.
    if (bytes[0] === TERMINATE) return;
    // Copies, because the transfer would detach the whole pool that small buffers share.
    const own = new Uint8Array(bytes);
    this.#worker.postMessage({ kind: "bytes", bytes: own } satisfies ToWorker, [own.buffer]);
  }
}
