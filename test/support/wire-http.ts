/** An HTTP client that sends any bytes and reads the response. */
import { connect } from "node:net";

export interface WireAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers: ReadonlyMap<string, string>;
}

export interface RawOptions {
  readonly port: number;
  readonly bytes: Buffer;
  readonly halfClose: boolean;
  /** Time to wait for an answer, or for more of it. */
  readonly patienceMs: number;
}

/** Returns the answers received before the other side closed, a stream was left, or the time ran out. */
export async function sendBytes({ port, bytes, halfClose, patienceMs }: RawOptions): Promise<WireAnswer[]> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.once("connect", () => (halfClose ? socket.end(bytes) : socket.write(bytes)));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (isOpenStream(chunk)) socket.setTimeout(100);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") reject(error);
    });
    socket.once("close", () => resolve());
  });
  return parseAnswers(Buffer.concat(chunks));
}

/** True for an event stream, which may never end by itself. */
function isOpenStream(chunk: Buffer): boolean {
  return chunk.includes("text/event-stream");
}

function parseAnswers(received: Buffer): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) throw new Error(`not an HTTP answer: ${rest.toString("latin1").slice(0, 500)}`);
    const [start = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1]);
    if (!Number.isInteger(status)) throw new Error(`not the first line of an HTTP answer: ${start.slice(0, 200)}`);
    const headers = new Map(
      lines
        .map((line) => line.split(/: ?(.*)/s, 2) as [string, string])
        .map(([name, value]) => [name.toLowerCase(), value]),
    );
    rest = rest.subarray(end + 4);
    if (status === 100) continue;
    const { body, next } = readBody(rest, headers);
    answers.push({ status, headers, type: headers.get("content-type") ?? "", body });
    rest = next;
  }
  return answers;
}

function readBody(rest: Buffer, headers: ReadonlyMap<string, string>): { body: string; next: Buffer } {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(rest);
  const length = headers.get("content-length");
  const size = length === undefined ? rest.length : Number(length);
  return { body: rest.subarray(0, size).toString(), next: rest.subarray(size) };
}

function readChunks(rest: Buffer): { body: string; next: Buffer } {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = rest.indexOf("\r\n", at);
    const size = end === -1 ? Number.NaN : Number.parseInt(rest.subarray(at, end).toString(), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(parts).toString(), next: Buffer.of() }; // the stream was left
    if (size === 0) return { body: Buffer.concat(parts).toString(), next: rest.subarray(end + 4) };
    parts.push(rest.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
