import { mkdirSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { RECORD_SORTS } from "../../src/registry/record-words.ts";
import { writeConfig } from "../../test/support/upstream-servers.ts";
import { type Daemon, readMemory, startDaemon } from "../storage/daemon.ts";
import type { BenchSession } from "../support/benchmark.ts";
import { timeEach } from "../support/interleave.ts";
import { PAGE, recordTimes } from "./registry.ts";
import type { NamesPlace } from "./place.ts";

const WARM_UPS = 10;
const LISTS = 100;
const RENAMES = 20;

export interface MeasuredGateway extends NamesPlace {
  readonly count: number;
}

/** Measures as a client sees it. Returns the memory of the gateway at the end, in MB. */
export async function measureGateway(session: BenchSession, place: MeasuredGateway): Promise<number> {
  const { column, home, databaseUrl, count } = place;
  mkdirSync(home, { recursive: true });
  writeConfig(home, { gateway: { exposure: "auto" } });
  await using daemon = await startDaemon(home, databaseUrl);
  await using connected = await connect(daemon);
  const { client } = connected;
  const record = recordTimes(session, column, count);
  for (const sortBy of RECORD_SORTS) {
    const listed = await timeWarm(LISTS, () => callTool(client, "pml_list_capabilities", { sort_by: sortBy }));
    record(`pml_list_capabilities by ${sortBy}`, "ms", listed, PAGE);
    const queried = await timeWarm(LISTS, () => callTool(client, "dns:query", { sort_by: sortBy }));
    record(`dns:query by ${sortBy}`, "ms", queried, PAGE);
  }
  const word = await timeWarm(LISTS, () => callTool(client, "dns:query", { pattern: `fs:action_${count - 1}*` }));
  record("dns:query by the beginning of a name", "ms", word, PAGE);
  const lists = await timeWarm(LISTS, () => client.listTools({}, { cacheMode: "bypass" }));
  record("tools/list through a gateway", "ms", lists, PAGE);
  let renamed = 0;
  const renames = await timeEach(RENAMES, async () => {
    renamed += 1;
    await rename(client, `fs:action_${renamed}`, `fs:renamed_${count}_${renamed}`);
  });
  record("rename until both names answer and the list is read again", "ms", renames);
  const { rssMb } = readMemory(daemon.pid) ?? { rssMb: Number.NaN };
  session.record({ row: `${count}: memory of the gateway`, unit: "MB", column, value: rssMb });
  return rssMb;
}

async function rename(client: Client, name: string, newName: string): Promise<void> {
  await callTool(client, "dns:rename", { name, newName });
  const { fqdn } = await callTool(client, "dns:lookup", { name: newName });
  const former = await callTool(client, "dns:lookup", { name });
  if (fqdn === undefined || former["fqdn"] !== fqdn) throw new Error(`${name} does not lead to ${newName}`);
  await client.listTools({}, { cacheMode: "bypass" });
}

async function timeWarm(count: number, work: () => Promise<unknown>): Promise<number[]> {
  await timeEach(WARM_UPS, work);
  return timeEach(count, work);
}

async function callTool(
  client: Client,
  name: string,
  input: Record<string, unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [first] = content;
  if (isError === true || first?.type !== "text") throw new Error(`${name}: ${JSON.stringify(content)}`);
  return JSON.parse(first.text) as Readonly<Record<string, unknown>>;
}

async function connect({ address }: Daemon): Promise<{ readonly client: Client } & AsyncDisposable> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${address.token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address.url), { requestInit: { headers } }));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}
