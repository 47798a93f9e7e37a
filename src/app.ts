import { DEFAULT_SCOPE } from "./capabilities/scope.ts";
import { watchScopes } from "./capabilities/scope-watch.ts";
import { bundledServers } from "./config/bundled-servers.ts";
import { environment, readSecretKey } from "./config/environment.ts";
import type { Config } from "./config/load-config.ts";
import { resolveServers, type ServerDefinition } from "./config/mcp-servers.ts";
import { contentHash } from "./content-hash.ts";
import type { DatabaseClient } from "./db/client.ts";
import { migrate } from "./db/migrate.ts";
import { openEmbedded } from "./db/open-embedded.ts";
import { describeUrl, openPostgres } from "./db/open-postgres.ts";
import type { Ownership } from "./db/owner-lock.ts";
import { PmlError } from "./errors.ts";
import { createEventBus, type EventBus } from "./events.ts";
import { backupDirectory, type BackupResult, writeBackup } from "./housekeeping/backup.ts";
import type { ExportFooter } from "./housekeeping/export-format.ts";
import { exportMemory, type LineSink } from "./housekeeping/export-memory.ts";
import { importMemory, type ImportResult } from "./housekeeping/import-memory.ts";
import { type Job, startJobs } from "./housekeeping/job-queue.ts";
import { dropExpiredResults, vacuumTables } from "./housekeeping/retention-store.ts";
import { readSchemaVersion } from "./housekeeping/transfer-store.ts";
import type { Discovery, IndexStatus } from "./discovery/discovery.ts";
import { dropOldIntents, dropOldVectors } from "./discovery/embedding/vector-store.ts";
import type { Suggest } from "./discovery/suggest.ts";
import type { Engine } from "./execution/engine.ts";
import type { Inspector } from "./execution/inspect.ts";
import { dropExpiredMemos } from "./execution/memo-store.ts";
import { dropOldDrafts, dropOldResults, dropOldRuns } from "./execution/retention-store.ts";
import type { Logger } from "./log.ts";
import { openEngine } from "./open-engine.ts";
import { createPermissions, type Permissions } from "./permissions/permissions.ts";
import type { PlannedTool, ToolVerdict } from "./permissions/plan.ts";
import { createKeptResults, type KeptResults } from "./results/kept-results.ts";
import { createSeal, type Seal } from "./secrets/seal.ts";
import { resolveSecretKey } from "./secrets/secret-key.ts";
import { traced } from "./tracing.ts";
import { Logins } from "./upstream/oauth/logins.ts";
import { ProcessGroups } from "./upstream/process-groups.ts";
import { serverLogFolder } from "./upstream/server-output.ts";
import { decideReviews, listReviews, type Review, type ReviewRequest } from "./upstream/tool-reviews.ts";
import { Upstreams } from "./upstream/upstreams.ts";
import { createUsageLog, type UsageLog } from "./usage/usage-log.ts";

interface DatabaseStatus {
  readonly engine: "pglite" | "postgres";
  readonly at: string;
  readonly schemaVersion: number;
}

/** Everything PML can do, built once. Protocol, HTTP and command line all call these operations. */
export interface App extends AsyncDisposable {
  readonly events: EventBus;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly permissions: Permissions;
  readonly engine: Engine;
  readonly inspector: Inspector;
  readonly suggest: Suggest;
  readonly discovery: Discovery;
  /** What can be found, and with which evidence. */
  indexStatus(): Promise<IndexStatus>;
  readonly results: KeptResults;
  readonly logins: Pick<Logins, "clientDocument" | "listenAt">;
  /** Resolves with the reason when the embedded database has died; the process can only end then. */
  readonly databaseLost: Promise<Error>;
  /** Takes over the servers of a configuration; those that are the same keep running. */
  configureServers(config: Config): Promise<void>;
  /** What the rules say about a tool that no program has been approved for. */
  decideTool(id: string): Promise<ToolVerdict>;
  /** Changed tools that nobody has accepted. */
  listReviews(subject?: string): Promise<Review[]>;
  decideReviews(request: ReviewRequest): Promise<Review[]>;
  databaseStatus(): Promise<DatabaseStatus>;
  exportMemory(write: LineSink): Promise<ExportFooter>;
  importMemory(path: string): Promise<ImportResult>;
  backup(): Promise<BackupResult>;
}

export interface AppOptions {
  readonly config: Config;
  readonly ownership: Ownership;
  readonly log: Logger;
}

export async function createApp({ config, ownership, log }: AppOptions): Promise<App> {
  await using opening = new AsyncDisposableStack();
  const client = opening.use(await openDatabase(config, ownership));
  const events = createEventBus();
  opening.use(
    await watchScopes({
      client,
      onChange: ({ org, project }) => events.publish({ kind: "scope_changed", org, project }),
      onError: (error) => log.warn({ error: String(error) }, "reading scope versions failed; it is tried again"),
    }),
  );
  const backup = (): Promise<BackupResult> =>
    traced("memory.backup", {}, () => writeBackup(client, backupDirectory(config.home), config.backup.keep));
  const permissions = opening.use(await createPermissions({ client, events, config }));
  opening.use(
    await startJobs({
      client,
      jobs: housekeepingJobs({ client, permissions, runs: config.runs, backup }),
      onError: (error) => log.error({ error: error.message }, "job queue"),
    }),
  );
  const usage = opening.use(createUsageLog({ db: client.db, scope: DEFAULT_SCOPE, log }));
  const logins = createLogins(config, client, log);
  const upstreams = opening.use(await openUpstreams(config, { client, logins, log }));
  events.subscribe(({ kind }) => {
    if (kind !== "scope_changed") return;
    upstreams.reload().catch((error: unknown) => log.error({ error: String(error) }, "reading reviews failed"));
  });
  const parts = { config, scope: DEFAULT_SCOPE, client, upstreams, usage, permissions, events, log };
  const { engine, inspector, suggest, discovery } = opening.use(openEngine(parts));
  const open = opening.move();
  return {
    events,
    engine,
    inspector,
    suggest,
    discovery,
    indexStatus: () => discovery.status({ scope: DEFAULT_SCOPE, principal: undefined }),
    upstreams,
    usage,
    permissions,
    results: createKeptResults(client.db, DEFAULT_SCOPE),
    databaseLost: client.lost,
    logins,
    async configureServers(changed) {
      await upstreams.configure(definedServers(changed));
      upstreams.connectInBackground();
    },
    decideTool: (id) => decideTool(permissions, upstreams, id),
    listReviews: (subject) => listReviews(client.db, DEFAULT_SCOPE, subject),
    async decideReviews(request) {
      const decided = await decideReviews(client.db, DEFAULT_SCOPE, request);
      await upstreams.reloadFlags();
      return decided;
    },
    ...createMemoryOperations(config, client),
    backup,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function createMemoryOperations(
  { database, home }: Config,
  client: DatabaseClient,
): Pick<App, "databaseStatus" | "exportMemory" | "importMemory"> {
  return {
    databaseStatus: async () => ({
      engine: client.engine,
      at: database.url === undefined ? home : describeUrl(database.url),
      schemaVersion: await readSchemaVersion(client.db),
    }),
    exportMemory: (write) => traced("memory.export", {}, () => exportMemory(client, write)),
    importMemory: (path) => traced("memory.import", {}, () => importMemory(client, path)),
  };
}

async function decideTool(permissions: Permissions, upstreams: Upstreams, id: string): Promise<ToolVerdict> {
  const planned = upstreams.known.flatMap(({ name, entry, offer }) =>
    (offer?.tools ?? []).map((tool): PlannedTool => {
      const routing = entry.url === undefined ? "local" : "cloud";
      return { id: `${name}:${tool.name}`, schemaHash: contentHash(tool), annotations: tool.annotations, routing };
    }),
  );
  const tool = planned.find((each) => each.id === id);
  const nobody = { principal: "", codeHash: "" };
  const verdict = tool && (await permissions.decidePlan(DEFAULT_SCOPE, [tool], nobody)).tools[0];
  if (verdict === undefined) {
    throw new PmlError("tool_not_found", `There is no tool "${id}"`, { hint: "All of them: pml tools" });
  }
  return verdict;
}

/** Opens and migrates the configured database: a server by its URL, otherwise the embedded one. */
async function openDatabase(config: Config, ownership: Ownership): Promise<DatabaseClient> {
  const { url, poolSize } = config.database;
  const client = url === undefined ? await openEmbedded(ownership) : await openPostgres({ url, poolSize });
  try {
    await migrate(client.db);
    return client;
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw error;
  }
}

interface UpstreamParts {
  readonly client: DatabaseClient;
  readonly logins: Logins;
  readonly log: Logger;
}

async function openUpstreams(config: Config, { client, logins, log }: UpstreamParts): Promise<Upstreams> {
  const { connectSeconds, callSeconds, longestCallSeconds, maxInFlight, maxQueued } = config.upstream;
  const limits = {
    connectMs: connectSeconds * 1000,
    callMs: callSeconds * 1000,
    longestCallMs: longestCallSeconds * 1000,
    inFlight: maxInFlight,
    queued: maxQueued,
  };
  const groups = new ProcessGroups(config.home, log);
  groups.endOrphans();
  const { changedTools } = config.upstream;
  const upstreams = new Upstreams({
    db: client.db,
    scope: DEFAULT_SCOPE,
    limits,
    changedTools,
    logins,
    groups,
    log,
    logFolder: serverLogFolder(config.home),
  });
  await upstreams.configure(definedServers(config));
  return upstreams;
}

function createLogins(config: Config, { db, engine }: DatabaseClient, log: Logger): Logins {
  let seal: Seal | undefined;
  const sources = {
    value: readSecretKey(),
    file: config.secrets.keyFile,
    home: config.home,
    shared: engine === "postgres",
  };
  const getSeal = (): Seal => (seal ??= createSeal(resolveSecretKey(sources)));
  const { clientMetadataUrl, redirectUrl } = config.upstream;
  return new Logins({ db, scope: DEFAULT_SCOPE, getSeal, clientMetadataUrl, redirectUrl, log });
}

function definedServers({ mcpServers, home }: Config): ServerDefinition[] {
  return resolveServers(mcpServers ?? bundledServers(home), environment);
}

/** For work on a server's database without a daemon; any number of processes may open that. */
export async function withServerDatabase<T>(url: string, work: (client: DatabaseClient) => Promise<T>): Promise<T> {
  await using client = await openPostgres({ url, poolSize: 2 });
  await migrate(client.db);
  return await work(client);
}

interface JobParts {
  readonly client: DatabaseClient;
  readonly permissions: Permissions;
  readonly runs: Config["runs"];
  readonly backup: () => Promise<unknown>;
}

/** Of each tool and capability; a few of them are used. */
const INTENTS_KEPT = 50;
/** Vectors that are still needed are made again, which takes minutes at most. */
const VECTOR_DAYS = 180;

function housekeepingJobs({ client, permissions, runs, backup }: JobParts): Job[] {
  const everywhere: Job[] = [
    { name: "approvals.expire", cron: "*/5 * * * *", run: () => permissions.expireApprovals() },
    { name: "memos.expire", cron: "20 * * * *", run: () => dropExpiredMemos(client.db) },
    { name: "runs.expire", cron: "45 2 * * *", run: () => dropOldRuns(client.db, runs.keepDays) },
    { name: "results.forget", cron: "55 2 * * *", run: () => dropOldResults(client.db, runs.keepDays) },
    { name: "drafts.expire", cron: "50 2 * * *", run: () => dropOldDrafts(client.db, runs.draftDays) },
    { name: "intents.forget", cron: "5 3 * * *", run: () => dropOldIntents(client.db, INTENTS_KEPT) },
    { name: "vectors.forget", cron: "10 3 * * 0", run: () => dropOldVectors(client.db, VECTOR_DAYS) },
    { name: "results.expire", cron: "*/10 * * * *", run: () => dropExpiredResults(client.db) },
  ];
  // A PostgreSQL server vacuums itself, and its copies are its administrator's business.
  const embeddedOnly: Job[] = [
    { name: "storage.vacuum", cron: "15 3 * * *", run: () => vacuumTables(client.db) },
    { name: "storage.backup", cron: "30 3 * * *", run: async () => void (await backup()) },
  ];
  return client.engine === "pglite" ? [...everywhere, ...embeddedOnly] : everywhere;
}
