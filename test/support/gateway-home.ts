import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll } from "vitest";
import type { McpServerEntry } from "../../src/config/schema.ts";
import { routes } from "../../src/contract/routes.ts";
import type { ServerRow } from "../../src/contract/servers.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { makeFolder } from "./folder.ts";
import { runJson, runPml, until } from "./pml.ts";
import { writeConfig } from "./upstream-servers.ts";

/** A PML_HOME with a running daemon, which is stopped at the end of the scope. */
export interface GatewayHome extends AsyncDisposable {
  readonly path: string;
  readonly daemonPid: number;
  servers(): Promise<readonly ServerRow[]>;
  server(name: string): Promise<ServerRow>;
  pid(name: string): Promise<number>;
  /** Waits until the named servers are connected. */
  ready(...names: readonly string[]): Promise<void>;
}

export interface TestGatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Further settings of pml.json. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Settings that list every tool, however many there are. */
export const listsEverything: Readonly<Record<string, unknown>> = { gateway: { exposure: "full" } };

type Entries = Readonly<Record<string, McpServerEntry>>;

export async function startGateway(mcpServers: Entries, options: TestGatewayOptions = {}): Promise<GatewayHome> {
  const { env = {}, config = {} } = options;
  const folder = await makeFolder();
  const home = folder.path;
  writeConfig(home, { ...config, mcpServers });
  const started = await runJson<{ pid: number }>(["up"], { home, env });
  const servers = (): Promise<readonly ServerRow[]> => listServers(home);
  const server = async (name: string): Promise<ServerRow> => {
    const row = (await servers()).find((each) => each.name === name);
    if (row === undefined) throw new Error(`pml servers does not list ${name}`);
    return row;
  };
  return {
    path: home,
    daemonPid: started.pid,
    servers,
    server,
    pid: async (name) => (await server(name)).pid ?? 0,
    ready: (...names) =>
      until(`ready: ${names.join(", ")}`, async () => {
        const rows = await servers();
        return names.every((name) => rows.find((row) => row.name === name)?.state === "ready");
      }),
    async [Symbol.asyncDispose]() {
      await runPml(["down"], { home });
      await folder[Symbol.asyncDispose]();
    },
  };
}

/**
 * Returns what `pml servers` prints, without a process per poll; falls back to the command, which starts a daemon if
 * none runs.
 */
async function listServers(home: string): Promise<readonly ServerRow[]> {
  const address = readDaemonAddress(home);
  const asked = address && (await callDaemon(address, routes.listServers).catch(() => undefined));
  return asked ?? runJson<ServerRow[]>(["servers"], { home });
}

/** Shares one gateway between the tests of a file or group; they must not change it. */
export function shareGateway(mcpServers: Entries, options: TestGatewayOptions = {}): () => GatewayHome {
  let shared: GatewayHome | undefined;
  beforeAll(async () => {
    shared = await startGateway(mcpServers, options);
    await shared.ready(...Object.keys(mcpServers));
  });
  afterAll(() => shared?.[Symbol.asyncDispose]());
  return () => {
    if (shared === undefined) throw new Error("the gateway is there only while tests run");
    return shared;
  };
}

export interface TextResult {
  readonly text: string;
  readonly isError: boolean;
}

/** Calls a tool and returns its text. */
export async function call(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
  options: { readonly signal?: AbortSignal } = {},
): Promise<TextResult> {
  const result = await client.callTool({ name, arguments: input }, options);
  const [first] = result.content;
  return { text: first?.type === "text" ? first.text : "", isError: result.isError === true };
}
