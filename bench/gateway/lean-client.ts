import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { splitLines } from "../../src/lines.ts";
import type { HttpTarget } from "./targets.ts";

/** A client that does only what it must: with the SDK's, most of what is measured at full load is the client. */
export interface LeanClient extends Disposable {
  /** Calls the target's tool and returns the answer as it came. */
  call(tool: string, message: string): Promise<string>;
}

const PROTOCOL = "2025-06-18";
const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "lean", version: "1.0.0" } },
};
const INITIALIZED = `{"jsonrpc":"2.0","method":"notifications/initialized"}`;

export function openLean(target: HttpTarget): Promise<LeanClient> {
  return target.kind === "sse" ? openEvents(target) : openStreamable(target);
}

async function openStreamable({ url, headers }: HttpTarget): Promise<LeanClient> {
  const agent = new Agent({ keepAlive: true });
  const post = createPost(agent);
  let lastId = 0;
  const hello = await post(url, headers, toRequest(++lastId, INITIALIZE));
  const session = hello.headers["mcp-session-id"];
  const own = {
    ...headers,
    "Mcp-Protocol-Version": PROTOCOL,
    ...(typeof session === "string" ? { "Mcp-Session-Id": session } : {}),
  };
  await post(url, own, INITIALIZED);
  return {
    call: async (tool, message) => (await post(url, own, toRequest(++lastId, toCall(tool, message)))).body,
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** The transport before Streamable HTTP: requests are posted, answers come on a stream. */
async function openEvents({ url, headers }: HttpTarget): Promise<LeanClient> {
  const agent = new Agent({ keepAlive: true });
  const post = createPost(agent);
  const answers = new Map<number, (answer: string) => void>();
  const address = Promise.withResolvers<URL>();
  const stream = await send(agent, url, { method: "GET", headers: { ...headers, Accept: "text/event-stream" } });
  void readEvents(stream, (data) => {
    if (!data.startsWith("{")) return address.resolve(new URL(data, url));
    const { id } = JSON.parse(data) as { id?: number };
    if (id !== undefined) answers.get(id)?.(data);
  }).catch(address.reject);
  let lastId = 0;
  const ask = async (what: object): Promise<string> => {
    const id = ++lastId;
    const answer = new Promise<string>((resolve) => answers.set(id, resolve));
    await post(await address.promise, headers, toRequest(id, what));
    return answer.finally(() => answers.delete(id));
  };
  await ask(INITIALIZE);
  await post(await address.promise, headers, INITIALIZED);
  return {
    call: (tool, message) => ask(toCall(tool, message)),
    [Symbol.dispose]() {
      stream.destroy();
      agent.destroy();
    },
  };
}

async function readEvents(stream: IncomingMessage, onData: (data: string) => void): Promise<void> {
  for await (const line of splitLines(stream.setEncoding("utf8"))) {
    if (line.startsWith("data: ")) onData(line.slice("data: ".length).trim());
  }
}

function toRequest(id: number, what: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...what });
}

function toCall(name: string, message: string): object {
  return { method: "tools/call", params: { name, arguments: { message } } };
}

type Headers = Readonly<Record<string, string>>;
type Post = (
  url: URL,
  headers: Headers,
  body: string,
) => Promise<{ body: string; headers: IncomingMessage["headers"] }>;

function createPost(agent: Agent): Post {
  const always = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  return async (url, headers, body) => {
    const length = { "Content-Length": String(Buffer.byteLength(body)) };
    const response = await send(agent, url, { method: "POST", headers: { ...always, ...headers, ...length }, body });
    return { body: await text(response), headers: response.headers };
  };
}

interface Sending {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
}

function send(agent: Agent, url: URL, { method, headers, body }: Sending): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { agent, method, headers }, resolve).once("error", reject).end(body);
  });
}
