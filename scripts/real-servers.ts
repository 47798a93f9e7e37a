/**
 * Runs real servers behind one gateway: checks that PML lists the tools that each lists itself, and that a call to each
 * has its effect. Exits with 1 on any failure.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { McpServerEntry } from "../src/config/schema.ts";
import { cacheFolder } from "../test/support/cache-folder.ts";
import { makeFolder } from "../test/support/folder.ts";
import { listsEverything, startGateway } from "../test/support/gateway-home.ts";
import { installPackages } from "../test/support/installed-packages.ts";
import { connectClient } from "../test/support/mcp-client.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { postgresServer, REAL_SERVERS, type RealServer, SQLITE } from "./real-servers/catalogue.ts";

interface ServerProof {
  readonly server: string;
  readonly package: string;
  readonly protocol: string;
  readonly tools: number;
  readonly "listed as it lists": boolean;
  readonly call: string;
}

/** With these capabilities a server offers everything it has. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {} };

/** Lists the names of a server's tools without a gateway, except tools that only run as tasks. */
async function listDirectly({ command = "", args = [], env = {} }: McpServerEntry): Promise<string[]> {
  const client = new Client(
    { name: "direct", version: "1.0.0" },
    { capabilities: CAPABILITIES, versionNegotiation: { mode: "auto" } },
  );
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  // Some servers offer more once they know the client's capabilities.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { tools } = await client.listTools();
  await client.close();
  return tools.filter(({ execution }) => execution?.taskSupport !== "required").map(({ name }) => name);
}

function buildSqlite(packages: string): boolean {
  const folder = join(packages, "sqlite3");
  if (existsSync(join(folder, "build", "Release", "node_sqlite3.node"))) return true;
  const headers = existsSync("/usr/include/node/node_api.h") ? ["--nodedir=/usr"] : [];
  try {
    console.error("compiling sqlite3 …");
    execFileSync(process.execPath, [join(packages, ".bin", "node-gyp"), "rebuild", ...headers], {
      cwd: folder,
      stdio: "ignore",
    });
    return true;
  } catch {
    return false; // no compiler or no headers
  }
}

await using stack = new AsyncDisposableStack();
const packages = await installPackages(
  "real-servers",
  [...REAL_SERVERS, SQLITE, postgresServer("")].map(({ pin }) => pin),
);
const bin = join(packages, ".bin");
const database = buildSqlite(packages) ? SQLITE : postgresServer(stack.use(await startPostgres()).url("postgres"));
const all: readonly RealServer[] = [...REAL_SERVERS, database];
const folder = stack.use(await makeFolder());
const entries = new Map(
  all.map(({ name, entry }) => {
    const own = join(folder.path, name);
    mkdirSync(own);
    return [name, entry(bin, own)];
  }),
);
const home = stack.use(await startGateway(Object.fromEntries(entries), { config: listsEverything }));
await home.ready(...entries.keys());
const { client } = stack.use(await connectClient(home.path));
const { tools } = await client.listTools();
const listed = tools.map(({ name, _meta }) => ({ wire: name, canonical: String(_meta?.["dev.pml/canonicalName"]) }));

async function call(server: string, tool: string, input: Record<string, unknown>): Promise<string> {
  const wire = listed.find(({ canonical }) => canonical === `${server}:${tool}`)?.wire ?? `${server}:${tool}`;
  const { content, structuredContent, isError } = await client.callTool({ name: wire, arguments: input });
  const texts = content.map((each) => (each.type === "text" ? each.text : JSON.stringify(each)));
  if (isError === true) throw new Error(`${wire}: ${texts.join("\n")}`);
  return [...texts, JSON.stringify(structuredContent)].join("\n");
}

async function prove({ name, prove: check }: RealServer): Promise<string> {
  if (check === undefined) return "(only listed)";
  try {
    return await check((tool, input) => call(name, tool, input), join(folder.path, name));
  } catch (error) {
    return `FAILED: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const rows: ServerProof[] = [];
for (const server of all) {
  const { name, pin } = server;
  const direct = (await listDirectly(entries.get(name) ?? {})).toSorted();
  const prefix = `${name}:`;
  const through = listed.flatMap(({ canonical }) =>
    canonical.startsWith(prefix) ? [canonical.slice(prefix.length)] : [],
  );
  rows.push({
    server: name,
    package: pin,
    protocol: (await home.server(name)).protocol ?? "",
    tools: through.length,
    "listed as it lists": JSON.stringify(direct) === JSON.stringify(through.toSorted()),
    call: await prove(server),
  });
}
console.table(rows);
console.log(`${rows.length} servers, ${listed.length} tools in one gateway`);
writeFileSync(cacheFolder("real-servers.json"), `${JSON.stringify(rows, null, 2)}\n`);
process.exitCode = rows.every((row) => row["listed as it lists"] && !row.call.startsWith("FAILED")) ? 0 : 1;
