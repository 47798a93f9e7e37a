import { connect, type Socket } from "node:net";

export interface LeanAnswer {
  readonly status: number;
  /** Status line and header fields, unparsed. */
  readonly head: string;
  readonly body: string;
}

const END_OF_HEAD = "\r\n\r\n";

/**
 * One connection, one request at a time, with only as much HTTP as the answers need: Node's own client takes longer for
 * a request than some of the measured gateways.
 */
export class LeanConnection implements Disposable {
  readonly #address: { readonly host: string; readonly port: number };
  #socket: Socket | undefined;
  #received: Buffer = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<LeanAnswer> | undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#address = { host: hostname, port: Number(port) };
  }

  /** Sends a request as given and reads its answer. */
  exchange(request: string): Promise<LeanAnswer> {
    // Servers close connections that were idle for some seconds.
    if (this.#socket?.writable !== true) this.#socket = this.#connect();
    this.#waiting = Promise.withResolvers();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect({ ...this.#address, noDelay: true });
    const fail = (error: Error): void => {
      if (this.#socket === socket) this.#waiting?.reject(error);
    };
    socket.on("data", (chunk) => this.#receive(chunk)).on("error", fail);
    socket.once("close", () => fail(new Error("the connection was closed before the answer")));
    this.#received = Buffer.alloc(0);
    return socket;
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const answer = readAnswer(this.#received.toString("latin1"));
    if (answer === undefined) return;
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }
}

/**
 * Returns undefined while the answer is incomplete. One character is one byte: decode it before looking for more than
 * ASCII.
 */
function readAnswer(text: string): LeanAnswer | undefined {
  const end = text.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const rest = text.slice(end + END_OF_HEAD.length);
  const body = isChunked(head) ? readChunks(rest) : readLength(rest, head);
  return body === undefined ? undefined : { status: Number(head.slice(9, 12)), head, body };
}

function isChunked(head: string): boolean {
  return /^transfer-encoding: *chunked/im.test(head);
}

function readLength(rest: string, head: string): string | undefined {
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return rest.length < length ? undefined : rest.slice(0, length);
}

function readChunks(text: string): string | undefined {
  let body = "";
  for (let at = 0; ;) {
    const line = text.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const length = Number.parseInt(text.slice(at, line), 16);
    const start = line + 2;
    if (text.length < start + length + 2) return undefined;
    if (length === 0) return body;
    body += text.slice(start, start + length);
    at = start + length + 2;
  }
}
