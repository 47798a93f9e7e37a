/**
 * The client that the suite's auth scenarios start, with the address of a server as its argument: a gateway with that
 * server behind it, and a person who accepts every login. Exits with 1 when a call still fails in the end.
 */
import { Client } from "@modelcontextprotocol/client";
import type { McpServerEntry, ServerOauth } from "../../src/config/schema.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { startGateway } from "../../test/support/gateway-home.ts";
import { openRunning } from "../../test/support/mcp-client.ts";
import { until } from "../../test/support/pml.ts";

/** The client id metadata document that the suite's authorization server accepts. */
const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
const SECRET_VARIABLE = "CONFORMANCE_SECRET";
const MAX_LOGINS = 3;

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
}

/** Returns the client that the scenario registered beforehand. */
async function readOauth(url: string, { client_id, client_secret }: Context): Promise<ServerOauth | undefined> {
  if (client_id === undefined || client_secret === undefined) return undefined;
  const machine = process.env["MCP_CONFORMANCE_SCENARIO"] === "auth/client-credentials-basic";
  const { origin } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`);
  const { authorization_servers: [issuer = ""] = [] } = (await response.json()) as { authorization_servers?: string[] };
  return {
    clientId: client_id,
    clientSecret: { env: SECRET_VARIABLE },
    issuer,
    grant: machine ? "client_credentials" : "authorization_code",
  };
}

async function run(url: string, context: Context): Promise<void> {
  const oauth = await readOauth(url, context);
  const entry: McpServerEntry = { url, ...(oauth === undefined ? {} : { pml: { oauth } }) };
  const config = { upstream: { clientMetadataUrl: CLIENT_METADATA_URL, connectSeconds: 10 } };
  const env = { [SECRET_VARIABLE]: context.client_secret ?? "" };
  await using home = await startGateway({ server: entry }, { config, env });
  await until("the server was reached, or wants a login", async () => {
    const { state } = await home.server("server");
    return state !== "idle" && state !== "connecting";
  });
  const client = new Client({ name: "conformance", version: "1.0.0" });
  const connect = () => client.connect(openRunning(home.path));
  for (let logins = 0; (await home.server("server")).state === "login_needed"; logins += 1) {
    if (logins === MAX_LOGINS) throw new Error("every login was refused");
    await logIn(home.path);
    await until("the login was tried", async () => (await home.server("server")).state !== "connecting");
  }
  await home.ready("server");
  await connect();
  try {
    await callFirst(home.path, client);
  } finally {
    await client.close();
  }
}

/** Calls a tool and logs in again as long as it requires more scopes. */
async function callFirst(home: string, client: Client): Promise<void> {
  const { tools } = await client.listTools();
  // Skips PML's own tools.
  for (const { name } of tools.filter((tool) => tool.name.startsWith("server__"))) {
    for (let logins = 0; ; logins += 1) {
      const result = await client.callTool({ name, arguments: {} });
      if (result.isError !== true) break;
      const report = result._meta?.["dev.pml/error"] as { code?: string } | undefined;
      if (report?.code !== "login_needed" || logins === MAX_LOGINS) throw new Error(JSON.stringify(result));
      await logIn(home);
    }
  }
}

async function logIn(home: string): Promise<void> {
  const address = readDaemonAddress(home);
  if (address === undefined) throw new Error("the daemon has ended");
  const headers = { Authorization: `Bearer ${address.token}` };
  const started = await fetch(new URL("/api/v1/logins", address.url), {
    method: "POST",
    headers,
    body: JSON.stringify({ server: "server" }),
  });
  const answer = (await started.json()) as { ok: boolean; data: { url: string } };
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  const page = await fetch(answer.data.url);
  if (!page.ok) throw new Error(await page.text());
}

await run(process.argv.at(-1) ?? "", JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context);
