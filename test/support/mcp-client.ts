import { Client, type ElicitResult, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { PML, runJson, testEnvironment } from "./pml.ts";

export interface TestClient extends AsyncDisposable {
  readonly client: Client;
  /** Questions of the gateway to this client, in order. */
  readonly questions: string[];
  /** Number of notifications about changed tools. */
  readonly toolChanges: { count: number };
}

export interface ClientOptions {
  readonly transport?: "stdio" | "http";
  /** A connection that the test opened itself, instead of a transport. */
  readonly through?: Transport;
  /** legacy: the 2025 handshake; auto: the current protocol if the other side speaks it. */
  readonly era?: "legacy" | "auto";
  readonly env?: Readonly<Record<string, string>>;
  /** The name in its client info. */
  readonly name?: string;
  /** The user's answer to every question, or a function of it. */
  readonly answer?: ElicitResult | ((message: string) => Promise<ElicitResult>);
  /** The client's model for sampling: maps a prompt to its answer. */
  readonly model?: (text: string) => string;
}

/** Every way in which a client can reach the gateway. */
export const clientKinds = [
  { transport: "stdio", era: "legacy" },
  { transport: "stdio", era: "auto" },
  { transport: "http", era: "legacy" },
  { transport: "http", era: "auto" },
] as const;

/** The ways in which forms of a client may approve, once a person allowed them. */
export const shimKinds = clientKinds.filter(({ transport }) => transport === "stdio");
/** The configuration that lets forms of the test client approve. */
export const allowsForms = { approvals: { forms: ["test-client"] } };

/** An MCP client of a PML_HOME: it starts `pml mcp`, as agents' clients do, or speaks HTTP to the daemon. */
export async function connectClient(home: string, options: ClientOptions = {}): Promise<TestClient> {
  const { transport = "stdio", era = "legacy", env = {}, name = "test-client", answer, model, through } = options;
  const questions: string[] = [];
  const toolChanges = { count: 0 };
  const client = new Client(
    { name, version: "1.0.0" },
    {
      capabilities: {
        ...(answer === undefined ? {} : { elicitation: { form: {}, url: {} } }),
        ...(model === undefined ? {} : { sampling: {} }),
      },
      versionNegotiation: { mode: era },
      listChanged: { tools: { onChanged: () => void (toolChanges.count += 1), autoRefresh: false, debounceMs: 0 } },
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.mode === "url" ? `${params.message}: ${params.url}` : params.message);
      return typeof answer === "function" ? answer(params.message) : answer;
    });
  }
  if (model !== undefined) lendModel(client, model);
  await client.connect(through ?? (transport === "stdio" ? openShim(home, env) : await openHttp(home, env)));
  return { client, questions, toolChanges, [Symbol.asyncDispose]: () => client.close() };
}

function lendModel(client: Client, model: (text: string) => string): void {
  client.setRequestHandler("sampling/createMessage", ({ params }) => {
    const text = params.messages.map(({ content }) => JSON.stringify(content)).join("\n");
    return { role: "assistant", model: "lent", content: { type: "text", text: model(text) }, stopReason: "endTurn" };
  });
}

function openShim(home: string, env: Readonly<Record<string, string>>): StdioClientTransport {
  const environment = testEnvironment({ home, env });
  return new StdioClientTransport({
    command: process.execPath,
    args: [PML, "mcp"],
    env: environment,
    stderr: "inherit",
  });
}

async function openHttp(home: string, env: Readonly<Record<string, string>>): Promise<StreamableHTTPClientTransport> {
  await runJson(["up"], { home, env });
  return openRunning(home);
}

/** Connects to a running daemon. */
export function openRunning(home: string, path = "/mcp"): StreamableHTTPClientTransport {
  const address = readDaemonAddress(home);
  if (address === undefined) throw new Error(`no daemon runs in ${home}`);
  const headers = { Authorization: `Bearer ${address.token}` };
  return new StreamableHTTPClientTransport(new URL(path, address.url), { requestInit: { headers } });
}
