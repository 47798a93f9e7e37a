import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/support/databases.ts";
import { createLogger } from "../../base/log.ts";
import { ProcessGroups } from "./process-groups.ts";
import { UpstreamServer } from "../upstream-server.ts";

const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const echo = { method: "tools/call", params: { name: "echo", arguments: {} } };

interface Remote {
  readonly url: string;
  readonly sessions: Set<string>;
  /** Calls that were really made. */
  calls: number;
}

/** A remote server of the 2025 era that answers in plain JSON and refuses sessions it does not know. */
async function startRemote(refusal: number): Promise<Remote> {
  const sessions = new Set<string>();
  const remote = { url: "", sessions, calls: 0 };
  const server = createServer((request, response) => {
    void readBody(request).then(({ id, method }) => {
      const known = sessions.has(String(request.headers["mcp-session-id"]));
      if (request.method !== "POST") return response.writeHead(405).end();
      if (method === "server/discover") return response.writeHead(400).end("unknown method");
      if (method !== "initialize" && !known) return response.writeHead(refusal).end("no such session");
      if (id === undefined) return response.writeHead(202).end();
      const session = randomUUID();
      if (method === "initialize") sessions.add(session);
      if (method === "tools/call") remote.calls += 1;
      const headers = { "content-type": "application/json", ...(known ? {} : { "mcp-session-id": session }) };
      return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, result: answer(method) }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(remote, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
}

async function readBody(request: IncomingMessage): Promise<{ id?: number; method?: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as { id?: number; method?: string };
}

function answer(method: string | undefined): unknown {
  const serverInfo = { name: "remote", version: "1" };
  if (method === "initialize") return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  return method === "tools/list" ? { tools: [] } : { content: [] };
}

async function open(url: string): Promise<UpstreamServer> {
  const home = await makeFolder();
  const server = new UpstreamServer({
    name: "remote",
    entry: { url },
    limits: {
      connectMs: 10_000,
      callMs: 5_000,
      longestCallMs: 10_000,
      inFlight: 32,
      queued: 32,
      messageBytes: 1024 * 1024,
    },
    groups: new ProcessGroups(home.path, log),
    log,
    onOffer: () => undefined,
    onNotification: () => undefined,
  });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });
  return server;
}

test.each([404, 400])(
  "calls go on when a remote server refuses its session with %i, each made once",
  async (status) => {
    const remote = await startRemote(status);
    const server = await open(remote.url);
    await server.request(echo);
    remote.sessions.clear();
    await Promise.all(Array.from({ length: 8 }, () => server.request(echo)));
    expect([remote.calls, remote.sessions.size, server.status.state]).toEqual([9, 1, "ready"]);
  },
);

test("a remote server that refuses every session is given up with what it said", async () => {
  const remote = await startRemote(404);
  const server = await open(remote.url);
  await server.request(echo);
  const forget = setInterval(() => remote.sessions.clear(), 1);
  onTestFinished(() => clearInterval(forget));
  remote.sessions.clear();
  await expect(server.request(echo)).rejects.toThrow(/Server remote .*(no such session|does not know the session)/);
  expect(remote.calls).toBe(1);
});
