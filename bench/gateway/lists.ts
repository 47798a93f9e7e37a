import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { PML, testEnvironment, until } from "../../test/support/pml.ts";
import { writeConfig } from "../../test/support/upstream-servers.ts";
import { type Daemon, startDaemon } from "../storage/daemon.ts";
import type { BenchSession } from "../support/benchmark.ts";
import { percentile } from "../support/statistics.ts";

const MANY_TOOLS = 10_000;
const SERVERS = 20;
const TOOLS_PER_SERVER = 15;
const LISTS = 10;
const COLD_STARTS = 5;
const GOAL = { atMost: 500 } as const;

/** Measures the time until a client has the list of tools: of very many, and of servers that are not connected yet. */
export async function measureLists(session: BenchSession, folder: string): Promise<void> {
  session.progress(`listing ${MANY_TOOLS} tools`);
  await measureManyTools(session, join(folder, "many-tools"));
  session.progress(`listing the tools of ${SERVERS} servers, ${COLD_STARTS} times after a start`);
  await measureColdList(session, join(folder, "many-servers"));
}

async function measureManyTools(session: BenchSession, home: string): Promise<void> {
  configure(home, { many: manyTools(MANY_TOOLS) });
  await storeOffers(home, 1);
  await using daemon = await startDaemon(home);
  for (const [column, open] of openTransports(home, daemon)) {
    await using client = await connect(open());
    const listed = await client.list();
    if (listed < MANY_TOOLS) throw new Error(`${listed} of ${MANY_TOOLS} tools were listed`);
    const durations: number[] = [];
    for (let list = 0; list < LISTS; list += 1) durations.push(await time(() => client.list()));
    const value = percentile(durations, 0.5);
    session.record({ row: `tools/list, ${MANY_TOOLS} tools`, unit: "ms", column, value, goal: GOAL });
  }
}

/** Measures from the start of a client (over stdio, of its shim) to its list, just after the daemon started. */
async function measureColdList(session: BenchSession, home: string): Promise<void> {
  const names = Array.from({ length: SERVERS }, (_, index) => `server-${index}`);
  configure(home, Object.fromEntries(names.map((name) => [name, manyTools(TOOLS_PER_SERVER)])));
  await storeOffers(home, SERVERS);
  const durations = new Map<string, number[]>();
  let connected = 0;
  for (let start = 0; start < COLD_STARTS; start += 1) {
    session.signal.throwIfAborted();
    for (const column of ["PML stdio", "PML HTTP"]) {
      await using daemon = await startDaemon(home);
      const open = openTransports(home, daemon).get(column);
      if (open === undefined) throw new Error(`There is no way ${column}`);
      const started = performance.now();
      await using client = await connect(open());
      const listed = await client.list();
      durations.set(column, [...(durations.get(column) ?? []), performance.now() - started]);
      connected += await countReady(daemon);
      if (listed < SERVERS * TOOLS_PER_SERVER) throw new Error(`${listed} tools were listed at a cold start`);
    }
  }
  for (const [column, each] of durations) {
    const value = percentile(each, 0.5);
    session.record({ row: `connect and list, ${SERVERS} servers, cold`, unit: "ms", column, value, goal: GOAL });
  }
  session.note(
    `Cold lists: ${connected} of ${2 * COLD_STARTS * SERVERS} servers were connected when the list was there.`,
  );
}

/** Runs a daemon until it knows the offers of its servers; it stores them before it ends. */
async function storeOffers(home: string, servers: number): Promise<void> {
  await using daemon = await startDaemon(home);
  await until("all servers were connected once", async () => (await countReady(daemon)) === servers, 120_000);
}

function configure(home: string, mcpServers: Readonly<Record<string, McpServerEntry>>): void {
  mkdirSync(home);
  writeConfig(home, { gateway: { exposure: "full" }, mcpServers });
}

function manyTools(count: number): McpServerEntry {
  return { command: process.execPath, args: [join(import.meta.dirname, "many-tools-server.ts"), String(count)] };
}

function openTransports(home: string, { address }: Daemon): ReadonlyMap<string, () => Transport> {
  const headers = { Authorization: `Bearer ${address.token}` };
  return new Map<string, () => Transport>([
    [
      "PML stdio",
      () => new StdioClientTransport({ command: process.execPath, args: [PML, "mcp"], env: testEnvironment({ home }) }),
    ],
    ["PML HTTP", () => new StreamableHTTPClientTransport(new URL("/mcp", address.url), { requestInit: { headers } })],
  ]);
}

interface Lister extends AsyncDisposable {
  /** Counts the tools on all pages. */
  list(): Promise<number>;
}

async function connect(transport: Transport): Promise<Lister> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools(undefined, { cacheMode: "refresh" })).tools.length,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function countReady({ address }: Daemon): Promise<number> {
  const response = await fetch(new URL("/api/v1/servers", address.url), {
    headers: { Authorization: `Bearer ${address.token}` },
  });
  const { data } = (await response.json()) as { data: readonly { readonly state: string }[] };
  return data.filter(({ state }) => state === "ready").length;
}

async function time(operation: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await operation();
  return performance.now() - started;
}
