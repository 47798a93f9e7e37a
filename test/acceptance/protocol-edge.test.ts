/** Answers to malformed requests over HTTP and stdio. */
import type { ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../support/gateway-home.ts";
import { runPml, spawnPml, until } from "../support/pml.ts";
import { addressOf, currentRequest, initializeRequest, sendRaw } from "../support/raw-http.ts";
import { servers } from "../support/upstream-servers.ts";
import { Random } from "../support/random.ts";

const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
const LEVELS = ["debug", "silent"];

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: Record<string, unknown>; readonly notifications?: unknown };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number };
}

/** Drives `pml mcp` with raw lines. */
function startShim(home: string, env: Record<string, string> = {}): { child: ChildProcess; lines: () => string[] } {
  const child = spawnPml(["mcp"], { home, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { child, lines: () => text.split("\n").slice(0, -1) };
}

async function answerTo(
  shim: ReturnType<typeof startShim>,
  body: { readonly id: unknown; readonly [key: string]: unknown },
): Promise<Message> {
  shim.child.stdin?.write(`${JSON.stringify(body)}\n`);
  const find = (): Message | undefined =>
    shim
      .lines()
      .map((line) => JSON.parse(line) as Message)
      .find(({ id }) => id === body.id);
  await until(`answer ${String(body.id)}`, () => find() !== undefined);
  return find() as Message;
}

/** Sends raw bytes; resolves with the first line of the response. */
function sendBytes(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    socket.once("error", reject);
    socket.once("close", () => resolve(answer.split("\r\n")[0] ?? ""));
  });
}

test("requests that no client would send are refused, and the gateway lives on", async () => {
  await using home = await startGateway({});
  const { url, authorization } = addressOf(home.path);
  const end = "Connection: close\r\n\r\n";
  for (const path of ["//", "http://[", "*", "http://a:99999/", "/\\\\"]) {
    expect(await sendBytes(url, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${end}`), path).toMatch(/^HTTP\/1.1 40\d /);
  }
  expect(await sendBytes(url, `GET /metrics HTTP/1.1\r\n${end}`)).toMatch(/^HTTP\/1.1 40\d /);
  const upgrade = "Connection: Upgrade\r\nUpgrade: pml-stdio\r\n\r\n";
  expect(await sendBytes(url, `GET // HTTP/1.1\r\nHost: 127.0.0.1\r\n${upgrade}`)).toBe("HTTP/1.1 401 Unauthorized");
  const { headers, body } = currentRequest("tools/list");
  for (const host of ["127.0.0.1:99999999", "127.0.0.1:0"]) {
    const strange = { ...headers, authorization, host };
    expect((await sendRaw(url, { headers: strange, body })).status).toBeLessThan(600);
    expect((await sendRaw(url, { ...initializeRequest("2025-11-25"), headers: strange })).status).toBeLessThan(600);
  }
  for (const odd of [null, 7, "text", [], [null], { id: {} }, { method: "tools/list" }, { params: [] }]) {
    expect((await sendRaw(url, { headers: { ...headers, authorization }, body: odd })).status).toBeLessThan(500);
  }
  expect((await sendRaw(url, { headers: { ...headers, authorization }, body })).status).toBe(200);
});

test("stdout carries messages and nothing else, whatever comes in and whatever is logged", async () => {
  const random = new Random(12);
  const pieces = ["{", "}", '"', "\\", "[", "null", "jsonrpc", ":", "2.0", "\u0000", "é", "\uFFFD", " ", "1e999", ","];
  const noise = (): string =>
    Array.from({ length: random.between(1, 40) }, () => pieces[random.between(0, pieces.length - 1)]).join("");
  const odd = [
    "null",
    "[]",
    "{}",
    `"text"`,
    `{"jsonrpc":"2.0"}`,
    `{"jsonrpc":"2.0","method":7}`,
    `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
    `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`,
    `{"jsonrpc":"2.0","id":99,"result":{}}`,
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":98}}`,
  ];
  await using home = await startGateway({ chaos: servers.chaos("a") });
  for (const level of LEVELS) {
    await runPml(["down"], { home: home.path });
    const shim = startShim(home.path, { PML_LOG_LEVEL: level, PML_DEBUG: "1" });
    const { body: initialize } = initializeRequest("2025-11-25");
    await answerTo(shim, { ...initialize, id: 1 });
    shim.child.stdin?.write(`${JSON.stringify(INITIALIZED)}\n`);
    for (const line of [...odd, ...Array.from({ length: 60 }, noise)]) shim.child.stdin?.write(`${line}\n`);
    const params = { name: "chaos__noise", arguments: {} };
    await answerTo(shim, { jsonrpc: "2.0", id: "noise", method: "tools/call", params });
    await answerTo(shim, { jsonrpc: "2.0", id: "unknown", method: "no/such" });
    const lines = shim.lines().map((line) => JSON.parse(line) as Message);
    expect(
      lines.every(({ jsonrpc }) => jsonrpc === "2.0"),
      level,
    ).toBe(true);
    shim.child.kill("SIGTERM");
  }
});
