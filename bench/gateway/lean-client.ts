import { get, type IncomingMessage } from "node:http";
import { splitLines } from "../../src/base/lines.ts";
import { LeanConnection } from "./lean-connection.ts";
import type { HttpTarget } from "./targets.ts";

/** A minimal client: at full load, the SDK's would dominate the measurement. */
export interface LeanClient extends Disposable {
  /** Calls the target's tool on one of the idle connections; fails unless it echoes. */
  call(connection: number, message: string): Promise<void>;
}

const PROTOCOL = "2025-06-18";
const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "lean", version: "1.0.0" } },
};
const INITIALIZED = `{"jsonrpc":"2.0","method":"notifications/initialized"}`;

export interface LeanTarget extends HttpTarget {
  readonly tool: string;
}

export function openLean(target: LeanTarget, connections: number): Promise<LeanClient> {
  const opened = Array.from({ length: connections }, () => new LeanConnection(target.url));
  return target.kind === "sse" ? openEvents(target, opened) : openStreamable(target, opened);
}

async function openStreamable(target: LeanTarget, connections: readonly LeanConnection[]): Promise<LeanClient> {
  const [first] = connections;
  let lastId = 0;
  const plain = toPrefix(target.url, target.headers);
  const { head } = await send(first, plain, toRequest(++lastId, INITIALIZE));
  const session = /^mcp-session-id: *(\S+)/im.exec(head)?.[1];
  const prefix = toPrefix(target.url, {
    ...target.headers,
    "Mcp-Protocol-Version": PROTOCOL,
    ...(session === undefined ? {} : { "Mcp-Session-Id": session }),
  });
  await send(first, prefix, INITIALIZED);
  return {
    async call(at, message) {
      const id = ++lastId;
      const { body } = await send(connections[at], prefix, toRequest(id, toCall(target.tool, message)));
      checkEcho(body, id, message);
    },
    [Symbol.dispose]: () => close(connections),
  };
}

/** The transport before Streamable HTTP: requests are posted, answers come on a stream. */
async function openEvents(target: LeanTarget, connections: readonly LeanConnection[]): Promise<LeanClient> {
  const [first] = connections;
  const answers = new Map<number, (answer: string) => void>();
  const address = Promise.withResolvers<URL>();
  const stream = await openStream(target);
  void readEvents(stream, (data) => {
    if (!data.startsWith("{")) return address.resolve(new URL(data, target.url));
    answers.get(Number(/"id":(\d+)/.exec(data)?.[1]))?.(data);
  }).catch(address.reject);
  const prefix = toPrefix((await address.promise).href, target.headers);
  let lastId = 0;
  const ask = async (connection: LeanConnection | undefined, id: number, what: object): Promise<string> => {
    const answer = new Promise<string>((resolve) => answers.set(id, resolve));
    await send(connection, prefix, toRequest(id, what));
    return answer.finally(() => answers.delete(id));
  };
  await ask(first, ++lastId, INITIALIZE);
  await send(first, prefix, INITIALIZED);
  return {
    async call(at, message) {
      const id = ++lastId;
      checkEcho(await ask(connections[at], id, toCall(target.tool, message)), id, message);
    },
    [Symbol.dispose]() {
      stream.destroy();
      close(connections);
    },
  };
}

function openStream({ url, headers }: LeanTarget): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const accept = { ...headers, Accept: "text/event-stream" };
    get(url, { agent: false, headers: accept }, resolve).once("error", reject);
  });
}

async function readEvents(stream: IncomingMessage, onData: (data: string) => void): Promise<void> {
  for await (const line of splitLines(stream.setEncoding("utf8"))) {
    if (line.startsWith("data: ")) onData(line.slice("data: ".length).trim());
  }
}

/** Builds the part of a request that is the same each time. */
function toPrefix(url: string, headers: Readonly<Record<string, string>>): string {
  const { pathname, search, host } = new URL(url);
  const fields = {
    Host: host,
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname}${search} HTTP/1.1\r\n${lines.join("")}Content-Length: `;
}

async function send(
  connection: LeanConnection | undefined,
  prefix: string,
  body: string,
): ReturnType<LeanConnection["exchange"]> {
  if (connection === undefined) throw new Error("There is no such connection");
  const answer = await connection.exchange(`${prefix}${body.length}\r\n\r\n${body}`);
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.body}`);
  return answer;
}

function toRequest(id: number, what: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...what });
}

function toCall(name: string, message: string): object {
  return { method: "tools/call", params: { name, arguments: { message } } };
}

function checkEcho(answer: string, id: number, message: string): void {
  if (!answer.includes(message) || !answer.includes(`"id":${id}`)) throw new Error(`No echo to ${id}: ${answer}`);
}

function close(connections: readonly LeanConnection[]): void {
  for (const connection of connections) connection[Symbol.dispose]();
}
