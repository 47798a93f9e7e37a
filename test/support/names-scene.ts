import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { makeFolder } from "./folder.ts";
import { type GatewayHome, startGateway } from "./gateway-home.ts";
import { connectClient, type TestClient } from "./mcp-client.ts";
import { runJson, runPml } from "./pml.ts";
import { servers, writeConfig } from "./upstream-servers.ts";
import { afterAll, beforeAll } from "vitest";

export interface NamesHome extends GatewayHome {
  /** Returns the calls that reached the counting server. */
  calls(): string[];
}

/** Starts a gateway in front of one counting server, which may be called freely. */
export async function startNamesGateway(config: Record<string, unknown> = {}): Promise<NamesHome> {
  const work = await makeFolder();
  const file = join(work.path, "calls.txt");
  writeFileSync(file, "");
  const home = await startGateway(
    { counting: servers.counting(file) },
    { config: { permissions: { allow: ["counting:*"] }, ...config } },
  );
  await home.ready("counting");
  return {
    ...home,
    calls: () => readFileSync(file, "utf8").split("\n").filter(Boolean),
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
    },
  };
}

/** A gateway and its client, shared by all tests of a file. */
export interface SharedNames {
  readonly home: NamesHome;
  readonly client: Client;
  /** Restarts the daemon, with further settings if given. */
  restart(settings?: Record<string, unknown>): Promise<void>;
}

export function shareNamesGateway(): SharedNames {
  let home: NamesHome;
  let connected: TestClient;
  beforeAll(async () => {
    home = await startNamesGateway();
    connected = await connectClient(home.path);
  });
  afterAll(async () => {
    await connected[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });
  return {
    get home() {
      return home;
    },
    get client() {
      return connected.client;
    },
    async restart(settings = {}) {
      await connected[Symbol.asyncDispose]();
      await runPml(["down"], { home: home.path });
      const config = JSON.parse(readFileSync(join(home.path, "pml.json"), "utf8")) as Record<string, unknown>;
      writeConfig(home.path, { ...config, ...settings });
      await runJson(["up"], { home: home.path });
      connected = await connectClient(home.path);
      await home.ready("counting");
    },
  };
}

export interface CalledTool<T> {
  readonly value: T;
  readonly text: string;
  readonly isError: boolean;
  readonly meta: Record<string, unknown>;
}

/** Calls a tool that answers JSON. */
export async function callJson<T = Record<string, unknown>>(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
): Promise<CalledTool<T>> {
  const result = await client.callTool({ name, arguments: input });
  const [first] = result.content;
  const text = first?.type === "text" ? first.text : "";
  return { value: parse(text) as T, text, isError: result.isError === true, meta: result._meta ?? {} };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a text for people
  }
}

export async function listNames(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** Calls a capability as a tool and returns its value. */
export async function callCapability(by: Client, name: string, input: Record<string, unknown> = {}): Promise<unknown> {
  const { value, isError, text } = await callJson(by, name, input);
  if (isError) throw new Error(text);
  return value;
}
