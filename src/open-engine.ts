import { CapabilityRegistry } from "./capabilities/capability-registry.ts";
import type { Registry } from "./capabilities/registry.ts";
import type { Scope } from "./capabilities/scope.ts";
import type { Signing } from "./capabilities/signature.ts";
import { createCallTool } from "./call-tool.ts";
import type { Config } from "./config/load-config.ts";
import type { DatabaseClient } from "./db/client.ts";
import type { Discovery } from "./discovery/discovery.ts";
import { createSuggest, type Suggest } from "./discovery/suggest.ts";
import { readKnownCapabilities } from "./discovery/suggestion-store.ts";
import type { EventBus } from "./events.ts";
import { AnalysedPrograms } from "./execution/analysed-programs.ts";
import { Programs } from "./execution/programs.ts";
import { Engine } from "./execution/engine.ts";
import { Inspector } from "./execution/inspect.ts";
import { recoverRuns } from "./execution/recover.ts";
import type { ToolDirectory } from "./execution/ports.ts";
import { readEdges } from "./graph/edge-store.ts";
import type { Connectable } from "./graph/provides-edge-calculator.ts";
import { TemplateEdges } from "./graph/template-edges.ts";
import type { JsonSchema } from "./json.ts";
import { readOutputSchemas } from "./learning/learning-store.ts";
import type { Logger } from "./log.ts";
import { openDiscovery } from "./open-discovery.ts";
import { createNameFacts, type NameFacts } from "./name-facts.ts";
import type { Permissions } from "./permissions/permissions.ts";
import { createSandbox } from "./sandbox/sandbox.ts";
import { createToolDirectory } from "./upstream/tool-directory.ts";
import type { Upstreams } from "./upstream/upstreams.ts";
import type { UsageLog } from "./usage/usage-log.ts";

export interface EngineParts {
  readonly config: Config;
  readonly scope: Scope;
  readonly client: DatabaseClient;
  readonly signing: Signing;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly permissions: Permissions;
  readonly events: EventBus;
  readonly log: Logger;
}

export interface OpenEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly registry: Registry;
  readonly names: NameFacts;
  readonly inspector: Inspector;
  readonly suggest: Suggest;
  readonly discovery: Discovery;
}

/** A value of this size stays in the journal; larger ones live as long as results do. */
const LARGEST_JOURNAL_VALUE = 64 * 1024;

/** Everything that runs programs, put together. */
export function openEngine(parts: EngineParts): OpenEngine {
  const { config, scope, client, signing, upstreams, usage, permissions, events, log } = parts;
  const { db } = client;
  const stack = new AsyncDisposableStack();
  const sandbox = stack.use(createSandbox(config.sandbox, log));
  const tools = stack.use(createToolDirectory(upstreams));
  const discovery = stack.use(openDiscovery({ config, scope, db, tools, log }));
  const analysed = new AnalysedPrograms(tools, signing);
  const registry = new CapabilityRegistry({
    db,
    policy: () => config.naming,
    prepare: (code) => analysed.prepare(code),
  });
  const programs = new Programs({ db, registry, analysed, nested: () => config.naming.nested, log });
  const engine = new Engine({
    client,
    db,
    registry,
    programs,
    sandbox,
    tools,
    permissions,
    callTool: createCallTool(upstreams, usage),
    limits: config.sandbox,
    maxDepth: config.sandbox.maxDepth,
    resultSeconds: config.results.ttlSeconds,
    maxValueBytes: LARGEST_JOURNAL_VALUE,
  });
  stack.defer(events.subscribe(({ kind }) => void (kind === "scope_changed" && registry.forget())));
  stack.use(recoverRuns({ db, engine, shared: client.engine === "postgres", log }));
  const templates = stack.use(
    new TemplateEdges({
      db,
      scope,
      readTools: () => describeTools(tools, (ids) => readOutputSchemas(db, scope, ids)),
      onError: (error) => log.warn({ error: String(error) }, "edges between tools could not be written"),
    }),
  );
  stack.defer(upstreams.onChange(() => templates.touch()));
  const suggest = createSuggest({
    findTool: (id) => tools.findById(id),
    searchFor: (principal) => (query, options) => discovery.search({ scope, principal }, query, options),
    nearness: (text, others) => discovery.nearness(text, others),
    readCapabilities: (ids) => readKnownCapabilities(db, scope, ids),
    readOutputSchemas: (ids) => readOutputSchemas(db, scope, ids),
    readEdges: (ids) => readEdges(db, scope, ids),
    runAbove: config.discovery.runAbove,
  });
  return {
    engine,
    registry,
    names: createNameFacts({ db, scope, tools, permissions }),
    inspector: new Inspector({ db, programs: engine.programs, sandbox, limits: config.sandbox, tools }),
    discovery,
    suggest: (request) => {
      templates.touch(); // runs may have shown new shapes of results since
      return suggest(request);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Tools with the shapes of their results: stated by their servers, or seen. */
async function describeTools(
  { all }: ToolDirectory,
  readSeen: (ids: readonly string[]) => Promise<ReadonlyMap<string, JsonSchema>>,
): Promise<Connectable[]> {
  const silent = all.filter(({ outputSchema }) => outputSchema === undefined).map(({ id }) => id);
  const seen = await readSeen(silent);
  return all.map(({ id, inputSchema, outputSchema = seen.get(id) }) => ({ id, inputSchema, outputSchema }));
}
