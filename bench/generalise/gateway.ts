import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject, JsonSchema, JsonValue } from "../../src/base/json.ts";
import { routes } from "../../src/contract/routes.ts";
import type { ToolAnswer } from "../../src/contract/tools.ts";
import { callDaemon } from "../../src/daemon/daemon-client.ts";
import { execute, type Executed } from "../../test/support/execute.ts";
import { exportedRows } from "../../test/support/exported-rows.ts";
import { makeFolder } from "../../test/support/folder.ts";
import { until } from "../../test/support/pml.ts";
import { writeConfig } from "../../test/support/upstream-servers.ts";
import { startDaemon } from "../storage/daemon.ts";
import type { PlayedWorld } from "./played-world.ts";

/** A capability as an agent sees it in a list or a suggestion. */
export interface SeenCapability {
  readonly id: string;
  readonly callName: string;
  readonly parameters: JsonSchema;
  /** Arguments of the call that a suggestion has ready. */
  readonly proposed?: JsonObject;
}

interface Suggestions {
  /** The best first. */
  readonly capabilities: readonly SeenCapability[];
  /** Probability that the first is meant. */
  readonly confidence: number;
}

/**
 * PML as an agent uses it, over MCP. What a benchmark takes from the product's answers is read here and nowhere else:
 * a change of the contract is a change of this file.
 */
export class PlayedGateway {
  readonly #client: Client;
  readonly #home: string;

  constructor(client: Client, home: string) {
    this.#client = client;
    this.#home = home;
  }

  async suggest(intent: string): Promise<Suggestions> {
    const { suggestions } = await execute(this.#client, { intent, options: { detail: "full" } });
    const capabilities = suggestions.capabilities.map(({ id = "", callName, parameters = {}, call }) => {
      return { id, callName, parameters, proposed: call.args };
    });
    return { capabilities, confidence: suggestions.confidence };
  }

  /** Lets PML run what it thinks is meant; undefined where it only suggests. */
  async speculate(intent: string, values: JsonObject): Promise<Executed | undefined> {
    const answer = await execute(this.#client, { intent, context: values });
    return answer.status === "suggestions" ? undefined : answer;
  }

  run(intent: string, code: string, args?: JsonObject): Promise<Executed> {
    return execute(this.#client, { intent, code, ...(args === undefined ? {} : { args }) });
  }

  call(intent: string, capability: string, args: JsonObject): Promise<Executed> {
    return execute(this.#client, { intent, capability, args });
  }

  async listCapabilities(): Promise<SeenCapability[]> {
    const all: SeenCapability[] = [];
    let cursor: string | null | undefined;
    do {
      const page: ToolAnswer<"pml_list_capabilities"> = await this.#read("pml_list_capabilities", {
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      all.push(...page.capabilities);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return all;
  }

  /** Returns the group of a capability: records with one group are variants of one behaviour. */
  async readGroups(): Promise<(capability: string) => string> {
    const rows = await exportedRows(this.#home, "capability_records");
    const groups = new Map(rows.map(({ id, group_id: group }) => [id, typeof group === "string" ? group : undefined]));
    return (capability) => groups.get(capability) ?? capability;
  }

  async #read<Answer>(name: string, input: JsonObject): Promise<Answer> {
    const { content } = await this.#client.callTool({ name, arguments: input });
    const [first] = content;
    if (first?.type !== "text") throw new Error(`${name} answered no text`);
    return JSON.parse(first.text) as Answer;
  }
}

/** A value that PML itself would put into a call. */
interface ProposedValue {
  readonly value: JsonValue;
  /** It is shown as a proposal; a default is not. */
  readonly isMarked: boolean;
}

/** The values of PML's own by parameter: those of the ready call, which have their sources, and defaults. */
export function proposedValues({ parameters, proposed = {} }: SeenCapability): ReadonlyMap<string, ProposedValue> {
  const properties = (parameters["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return new Map(
    Object.entries(properties).flatMap(([name, schema]): [string, ProposedValue][] => {
      const value = proposed[name];
      if (value !== undefined) return [[name, { value, isMarked: true }]];
      return schema["default"] === undefined
        ? []
        : [[name, { value: schema["default"] as JsonValue, isMarked: false }]];
    }),
  );
}

/** Short enough that no answer is cut. */
const PAGE = 20;
const READY_LIMIT_MS = 60_000;

/** Starts a gateway with an empty memory over the servers of a world; nothing is asked. */
export async function openGateway({
  servers,
}: PlayedWorld): Promise<{ readonly pml: PlayedGateway } & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const place = opening.use(await makeFolder("pml-bench-play-"));
  const home = join(place.path, "home");
  mkdirSync(home);
  const names = Object.keys(servers);
  writeConfig(home, { mcpServers: servers, permissions: { allow: names.map((name) => `${name}:*`) } });
  const { address } = opening.use(await startDaemon(home));
  await until(
    "the servers are ready",
    async () =>
      (await callDaemon(address, routes.listServers)).filter(({ state }) => state === "ready").length >= names.length,
    READY_LIMIT_MS,
  );
  const client = new Client({ name: "bench", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${address.token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address.url), { requestInit: { headers } }));
  opening.defer(() => client.close());
  const open = opening.move();
  return { pml: new PlayedGateway(client, home), [Symbol.asyncDispose]: () => open.disposeAsync() };
}
