import { formatToolId, parseToolId } from "../../src/catalogue/tool-id.ts";
import { createProgramCalls } from "../../src/gateway/program-calls.ts";
import type { Catalogue, CatalogueTool } from "../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { OWNER, type Scope } from "../../src/registry/scope.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { createEventBus } from "../../src/base/events.ts";
import { inThread } from "./analyser.ts";
import { AnalysedPrograms } from "../../src/execution/analysed-programs.ts";
import { CapabilityRegistry } from "../../src/registry/capability-registry.ts";
import { Programs } from "../../src/execution/programs.ts";
import { createDirectKeeper, type RunKeeper } from "../../src/execution/run-keeper.ts";
import { Engine } from "../../src/execution/run-engine.ts";
import type { RunAnswer } from "../../src/contract/execute.ts";
import type { RunRequest } from "../../src/execution/requests.ts";
import { createLogger } from "../../src/base/log.ts";
import type { EffectHints } from "../../src/permissions/effect.ts";
import { createPermissions, type Permissions } from "../../src/permissions/permissions.ts";
import { createSandbox, type ProcessSandbox } from "../../src/sandbox/sandbox.ts";

export const scope: Scope = { org: "acme", project: "shop" };
export const caller = { principal: OWNER, client: "test" };
const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const config = loadConfig({}, { PML_HOME: "/nonexistent", HOME: "/nonexistent" });

const HINTS: Record<string, EffectHints> = {
  "kv:get": { readOnlyHint: true, believed: true },
  "kv:add": { readOnlyHint: false, destructiveHint: false, believed: true },
  "kv:drop": { readOnlyHint: false, destructiveHint: true, believed: true },
};

function createDirectory(): Catalogue & { redefine(id: string): void } {
  const tools = Object.entries(HINTS).map(([id, annotations]): CatalogueTool => {
    const { server, tool: name } = parseToolId(id);
    const definition = { name, annotations, inputSchema: { type: "object" as const } };
    const place = { routing: "local", maxResultBytes: undefined } as const;
    return { id, server, name, definition, annotations, contentHash: `h-${id}`, ...place };
  });
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  return {
    tools,
    withheld: [],
    version: 1,
    onChange: () => () => undefined,
    findById: (id) => byId.get(id),
    findTool: (server, tool) => byId.get(formatToolId(server, tool)),
    redefine(id) {
      const tool = byId.get(id);
      if (tool !== undefined) byId.set(id, { ...tool, contentHash: `${tool.contentHash} again` });
    },
  };
}

/** A run engine over a small key-value store; everything is real except the tools. */
export interface EngineScene {
  readonly engine: Engine;
  readonly registry: CapabilityRegistry;
  readonly permissions: Permissions;
  readonly calls: string[];
  /** Tools whose definition changes before the next lookup. */
  readonly changing: Set<string>;
  run(code: string, more?: Partial<RunRequest>): Promise<RunAnswer>;
}

export function createTestSandbox(): ProcessSandbox {
  return createSandbox(config.sandbox, log);
}

export async function createEngineScene(
  client: DatabaseClient,
  sandbox: ProcessSandbox,
  keeper: RunKeeper = createDirectKeeper({ client, log }),
): Promise<EngineScene> {
  const calls: string[] = [];
  const changing = new Set<string>();
  const permissions = await createPermissions({ client, events: createEventBus(), config });
  const tools = createDirectory();
  const { db } = client;
  const analysed = new AnalysedPrograms(tools, inThread);
  const naming = (): typeof config.naming => config.naming;
  const registry = new CapabilityRegistry({ db, policy: naming, prepare: (code) => analysed.prepare(code) });
  const programs = new Programs({ db, registry, analysed, naming, log });
  const engine = new Engine({
    keeper,
    secrets: analysed.secrets,
    db,
    registry,
    programs,
    analysed,
    sandbox,
    tools,
    permissions,
    limits: config.sandbox,
    parking: config.runs,
    maxDepth: 3,
    resultSeconds: 60,
    maxValueBytes: 1_000,
    log,
    callTool: createProgramCalls({
      catalogue: tools,
      usage: { record: () => undefined },
      findServer: (server) => ({
        async connect() {
          for (const tool of changing) tools.redefine(tool);
          changing.clear();
        },
        async request({ params }) {
          const { name, arguments: args } = params as { name: string; arguments: Record<string, unknown> };
          calls.push(`${formatToolId(server, name)} ${JSON.stringify(args)}`);
          if (args["key"] === "broken") return { content: [{ type: "text", text: "broken" }], isError: true };
          const value = name === "get" ? { value: args["key"] ?? null } : { done: calls.length };
          return { content: [], structuredContent: value };
        },
      }),
    }),
  });
  const reach = { caller, signal: new AbortController().signal };
  const run = (code: string, more: object = {}): Promise<RunAnswer> => {
    const request = { kind: "code", intent: "test", code, args: {}, options: {}, ...more } as RunRequest;
    return engine.execute(scope, request, reach);
  };
  return { engine, registry, permissions, calls, changing, run };
}
