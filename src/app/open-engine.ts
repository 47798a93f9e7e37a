import { CapabilityRegistry } from "../registry/capability-registry.ts";
import type { Registry } from "../registry/registry.ts";
import type { Scope } from "../registry/scope.ts";
import type { Signing } from "../registry/signature.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { createProgramCalls } from "../gateway/program-calls.ts";
import type { Config } from "../config/load-config.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { Discovery } from "../discovery/discovery.ts";
import type { Outcomes } from "../discovery/recall/outcomes.ts";
import type { Suggest } from "../discovery/suggest.ts";
import type { EventBus } from "../base/events.ts";
import { AnalysisThread } from "../analysis/analysis-thread.ts";
import { AnalysedPrograms, type Analyser } from "../execution/analysed-programs.ts";
import { Programs } from "../execution/programs.ts";
import { Engine } from "../execution/run-engine.ts";
import { openRunKeeper } from "../execution/run-keeper.ts";
import { Inspector } from "../execution/inspect.ts";
import { recoverRuns } from "../execution/recover.ts";
import type { Logger } from "../base/log.ts";
import { openDiscovery } from "./open-discovery.ts";
import { openSuggestions } from "./open-suggestions.ts";
import { createNameFacts, type NameFacts } from "./name-facts.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { UsageLog } from "../gateway/usage/usage-log.ts";

export interface EngineParts {
  readonly config: Config;
  readonly scope: Scope;
  readonly client: DatabaseClient;
  readonly signing: Signing;
  readonly secrets: Secrets;
  readonly catalogue: Catalogue;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly permissions: Permissions;
  readonly events: EventBus;
  readonly log: Logger;
}

export interface OpenEngine extends AsyncDisposable {
  readonly engine: Engine;
  readonly registry: Registry;
  readonly analysed: AnalysedPrograms;
  readonly names: NameFacts;
  readonly inspector: Inspector;
  readonly suggest: Suggest;
  readonly outcomes: Outcomes;
  readonly discovery: Discovery;
}

/** A value up to this size stays in the journal; a larger one lives as long as results do. */
const LARGEST_JOURNAL_VALUE = 64 * 1024;

/** Composes everything that runs programs. */
export function openEngine(parts: EngineParts): OpenEngine {
  const { config, scope, client, signing, secrets, catalogue: tools } = parts;
  const { upstreams, usage, permissions, events, log } = parts;
  const { db } = client;
  const stack = new AsyncDisposableStack();
  // Disposed after the sandbox, because the sandbox ends its runs.
  const keeper = stack.use(openRunKeeper({ client, home: config.home, log, clean: secrets.withoutKnown }));
  const sandbox = stack.use(createSandbox(config.sandbox, log));
  const discovery = stack.use(openDiscovery({ config, scope, db, tools, log }));
  const thread = stack.use(new AnalysisThread(() => config.analysis));
  const analyser: Analyser = {
    limits: () => ({ ...config.analysis, maxCodeBytes: config.sandbox.maxCodeBytes }),
    analyse: (code, known) => thread.analyse(code, known),
  };
  const analysed = new AnalysedPrograms(tools, analyser, { signing, secrets });
  const naming = (): typeof config.naming => config.naming;
  const { capabilities: maxRecords } = config.limits;
  const prepare = (code: string): ReturnType<typeof analysed.prepare> => analysed.prepare(code);
  const registry = new CapabilityRegistry({ db, policy: naming, maxRecords, prepare });
  const programs = new Programs({ db, registry, analysed, naming, log });
  const engine = new Engine({
    db,
    keeper,
    secrets,
    registry,
    programs,
    analysed,
    sandbox,
    tools,
    permissions,
    callTool: createProgramCalls({ catalogue: tools, findServer: (name) => upstreams.findServer(name), usage }),
    limits: config.sandbox,
    parking: config.runs,
    maxDepth: config.sandbox.maxDepth,
    resultSeconds: config.results.ttlSeconds,
    maxValueBytes: LARGEST_JOURNAL_VALUE,
    log,
  });
  stack.defer(events.subscribe(({ kind }) => void (kind === "scope_changed" && registry.forget())));
  stack.use(recoverRuns({ db, scope, engine, shared: client.engine === "postgres", log }));
  const suggestions = stack.use(openSuggestions({ config, scope, db, tools, discovery, log }));
  return {
    engine,
    registry,
    analysed,
    names: createNameFacts({ db, tools, permissions }),
    inspector: new Inspector({ db, programs: engine.programs, sandbox, limits: config.sandbox, tools }),
    discovery,
    suggest: suggestions.suggest,
    outcomes: suggestions.outcomes,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
