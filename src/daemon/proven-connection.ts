import { randomBytes, timingSafeEqual } from "node:crypto";
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { PmlError } from "../base/errors.ts";
import { routes } from "../contract/routes.ts";
import type { DaemonAddress } from "./daemon-file.ts";
import { proveDaemon } from "./daemon-proof.ts";

/** A daemon that works hard answers late; a probe does not wait for it. */
const PROOF_LIMIT_MS = 30_000;

/**
 * Opens a connection whose other end has proven to be the daemon of the address. Token and keys travel on such
 * connections only: after the end of a daemon, any process may listen on its port.
 */
export async function openProven(address: DaemonAddress, limitMs = PROOF_LIMIT_MS): Promise<Socket> {
  const { hostname, host, port } = new URL(address.url);
  const nonce = randomBytes(32).toString("base64url");
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port), noDelay: true });
  const late = setTimeout(() => socket.destroy(new Error(`no answer within ${limitMs} ms`)), limitMs);
  try {
    socket.write(`GET ${routes.getProof.path}?nonce=${nonce} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const proof = await readProof(socket);
    if (!isProof(proof, address, nonce)) throw notProven(address);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

/** A daemon of an older version has no secret, or no such route. */
export function notProven({ url, pid }: DaemonAddress): PmlError {
  return new PmlError("daemon_unproven", `The process at ${url} does not prove that it is the daemon (pid ${pid})`, {
    hint: `It was sent no key. If pid ${pid} is PML of an earlier version, end it: kill ${pid}. Then start PML: pml up`,
    details: { url, pid },
  });
}

function isProof(given: string | undefined, address: DaemonAddress, nonce: string): boolean {
  if (given === undefined || address.shimSecret === undefined) return false;
  const wanted = Buffer.from(proveDaemon(address.shimSecret, address, nonce));
  const proof = Buffer.from(given);
  return proof.length === wanted.length && timingSafeEqual(proof, wanted);
}

const MOST_HEAD_LETTERS = 4_096;
const PROOF = /^HTTP\/1\.1 200 [^]*?\r\n\r\n([\w-]{43})$/;
const HEAD_OF_PROOF = /^HTTP\/1\.1 200 [^]*?\r\n\r\n[\w-]{0,42}$/;

/** Reads the answer without HTTP of Node, which would not hand the connection on. Undefined for any other answer. */
function readProof(socket: Socket): Promise<string | undefined> {
  let received = "";
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      socket.off("data", read).off("error", reject).off("close", gone);
      settle();
    };
    const gone = (): void => finish(() => reject(new Error("the connection was closed")));
    const read = (chunk: Buffer): void => {
      received += chunk.toString("latin1");
      const isPart = !received.includes("\r\n\r\n") || HEAD_OF_PROOF.test(received);
      if (!isPart || received.length > MOST_HEAD_LETTERS) finish(() => resolve(PROOF.exec(received)?.[1]));
    };
    socket.on("data", read).once("error", reject).once("close", gone);
  });
}

export interface ProvenRequest {
  /** Path and query. */
  readonly path: string;
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request on a connection of its own, which has proven itself. */
export async function sendProven(address: DaemonAddress, request: ProvenRequest): Promise<Response> {
  const { path, method = "GET", headers = {}, body, signal } = request;
  const socket = await openProven(address);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(path, address.url), {
      method,
      headers: { ...authorization(address), ...headers },
      createConnection: () => socket,
      ...(signal === undefined ? {} : { signal }),
    });
    sent.once("response", (answer) => resolve(toResponse(answer))).on("error", reject);
    sendBody(sent, body);
  });
}

function sendBody(sent: ClientRequest, body: Readable | string | undefined): void {
  if (!(body instanceof Readable)) {
    sent.end(body);
    return;
  }
  body.once("error", (error) => sent.destroy(error)).pipe(sent);
}

const STATUSES_WITHOUT_BODY: readonly number[] = [204, 205, 304];

function toResponse(answer: IncomingMessage): Response {
  const { statusCode: status = 500, headersDistinct } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value);
  if (!STATUSES_WITHOUT_BODY.includes(status)) {
    return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
  }
  answer.resume();
  return new Response(null, { status, headers });
}

export function authorization({ token }: DaemonAddress): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}
