/** A client that writes anything to `pml mcp`: each request has one answer, and nothing takes the connection down. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { splitLines } from "../../src/base/lines.ts";
import { GOODBYE } from "../../src/mcp/transport/stdio-bridge.ts";
import { shareGateway } from "../support/gateway-home.ts";
import { spawnPml, until } from "../support/pml.ts";

const gateway = shareGateway({});

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

let shim: ChildProcess;
const received: Message[] = [];
let asked = 0;

beforeAll(async () => {
  shim = spawnPml(["mcp"], { home: gateway().path });
  void (async () => {
    if (shim.stdout === null) return;
    for await (const line of splitLines(shim.stdout.setEncoding("utf8"))) received.push(JSON.parse(line) as Message);
  })();
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  await write(`${JSON.stringify({ jsonrpc: "2.0", id: "hello", method: "initialize", params })}\n`);
  await until("the handshake", () => received.some(({ id }) => id === "hello"));
  await write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
});
afterAll(async () => {
  shim.stdin?.end();
  if (shim.exitCode === null) await once(shim, "close");
});

async function write(text: string | Buffer): Promise<void> {
  if (shim.stdin?.write(text) === false) await once(shim.stdin, "drain");
}

/** Writes, then pings; returns everything that came between, without the answer to the ping. */
async function attack(bytes: string | Buffer): Promise<Message[]> {
  const before = received.length;
  await write(bytes);
  asked += 1;
  const ping = `ping-${asked}`;
  await write(`${JSON.stringify({ jsonrpc: "2.0", id: ping, method: "ping" })}\n`);
  await until("the ping is answered", () => received.some(({ id }) => id === ping), 30_000);
  const answers = received.slice(before);
  expect(answers.filter(({ id }) => id === ping)).toHaveLength(1);
  return answers.filter(({ id }) => id !== ping);
}

const request = (id: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });

const ONE_ERROR: Readonly<Record<string, string | Buffer>> = {
  "no JSON": "hello\n",
  "half a message": `{"jsonrpc":"2.0","id":1,\n`,
  "two messages in one line": `${request("a")}${request("b")}\n`,
  "a zero inside": `${request("zero").slice(0, -1)},"x":"\u0000"}\n`,
  "a line of zeros": Buffer.concat([Buffer.alloc(100), Buffer.from("\n")]),
  "bytes that are no text": Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0x0a]),
  "a message of 17 MB": `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${"a".repeat(17 * 1024 * 1024)}"}}\n`,
  "no version": `{"id":5,"method":"ping"}\n`,
  "an id that is an object": `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}\n`,
  "an array in an array": "[[]]\n",
  "deep nesting": `{"jsonrpc":"2.0","id":1,"method":"ping","params":${"[".repeat(50_000)}${"]".repeat(50_000)}}\n`,
  "the daemon's goodbye": `${GOODBYE}\n`,
};

test.each(Object.entries(ONE_ERROR))("one error answers %s, and the next request is served", async (_name, bytes) => {
  const answers = await attack(bytes);
  expect(answers).toHaveLength(1);
  expect(answers[0]?.error?.code).toBeLessThan(0);
});

const SILENT: Readonly<Record<string, string>> = {
  "answers to questions nobody asked": `${JSON.stringify({ jsonrpc: "2.0", id: 7, result: { action: "accept", content: { answer: "once" } } })}\n`,
  "errors to questions nobody asked": `${JSON.stringify({ jsonrpc: "2.0", id: "pml-handover-1", error: { code: -1, message: "x" } })}\n`,
  "a cancellation of nothing": `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "never" } })}\n`,
  "empty lines": "\n\r\n   \n",
};

test.each(Object.entries(SILENT))("%s are dropped", async (_name, bytes) => {
  expect(await attack(bytes)).toEqual([]);
});

test("an id that the shim uses itself, and the same id twice, are answered once each", async () => {
  expect(await attack(`${request("pml-handover-1")}\n`)).toMatchObject([{ id: "pml-handover-1", result: {} }]);
  const twice = await attack(`${request("same")}\n${request("same")}\n`);
  expect(twice.filter(({ id }) => id === "same")).toHaveLength(2);
});

test("a message in pieces of one byte is one message", async () => {
  const before = received.length;
  for (const byte of Buffer.from(`${request("slow ☂")}\n`)) await write(Buffer.of(byte));
  await until("the message is answered", () => received.slice(before).some(({ id }) => id === "slow ☂"));
  expect(shim.exitCode).toBeNull();
});
