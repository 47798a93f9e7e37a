import { DEFAULT_SCOPE } from "./capabilities/scope.ts";
import { watchScopes } from "./capabilities/scope-watch.ts";
import { bundledServers } from "./config/bundled-servers.ts";
import { environment } from "./config/environment.ts";
import type { Config } from "./config/load-config.ts";
import { resolveServers, type ServerDefinition } from "./config/mcp-servers.ts";
import type { DatabaseClient } from "./db/client.ts";
import { migrate } from "./db/migrate.ts";
import { openEmbedded } from "./db/open-embedded.ts";
import { describeUrl, openPostgres } from "./db/open-postgres.ts";
import type { Ownership } from "./db/owner-lock.ts";
import { createEventBus, type EventBus } from "./events.ts";
import { backupDirectory, type BackupResult, writeBackup } from "./housekeeping/backup.ts";
import type { ExportFooter } from "./housekeeping/export-format.ts";
import { exportMemory, type LineSink } from "./housekeeping/export-memory.ts";
import { importMemory, type ImportResult } from "./housekeeping/import-memory.ts";
import { type Job, startJobs } from "./housekeeping/job-queue.ts";
import { dropExpiredResults, vacuumTables } from "./housekeeping/retention-store.ts";
import { readSchemaVersion } from "./housekeeping/transfer-store.ts";
import type { Logger } from "./log.ts";
import { traced } from "./tracing.ts";
import { ProcessGroups } from "./upstream/process-groups.ts";
import { serverLogFolder } from "./upstream/server-output.ts";
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
  /** Resolves with the reason when the embedded database has died; the process can only end then. */
  readonly databaseLost: Promise<Error>;
  /** Takes over the servers of a configuration; those that are the same keep running. */
  configureServers(config: Config): Promise<void>;
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
  opening.use(
    await startJobs({
      client,
      jobs: housekeepingJobs(client, backup),
      onError: (error) => log.error({ error: error.message }, "job queue"),
    }),
  );
  const usage = opening.use(createUsageLog({ db: client.db, scope: DEFAULT_SCOPE, log }));
  const upstreams = opening.use(await openUpstreams(config, client, log));
  const open = opening.move();
  return {
    events,
    upstreams,
    usage,
    databaseLost: client.lost,
    async configureServers(changed) {
      await upstreams.configure(definedServers(changed));
      upstreams.connectInBackground();
    },
    databaseStatus: async () => ({
      engine: client.engine,
      at: config.database.url === undefined ? config.home : describeUrl(config.database.url),
      schemaVersion: await readSchemaVersion(client.db),
    }),
    exportMemory: (write) => traced("memory.export", {}, () => exportMemory(client, write)),
    importMemory: (path) => traced("memory.import", {}, () => importMemory(client, path)),
    backup,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
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

async function openUpstreams(config: Config, client: DatabaseClient, log: Logger): Promise<Upstreams> {
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
  const upstreams = new Upstreams({
    db: client.db,
    scope: DEFAULT_SCOPE,
    limits,
    groups,
    log,
    logFolder: serverLogFolder(config.home),
  });
  await upstreams.configure(definedServers(config));
  return upstreams;
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

function housekeepingJobs(client: DatabaseClient, backup: () => Promise<unknown>): Job[] {
  const everywhere: Job[] = [
    { name: "results.expire", cron: "*/10 * * * *", run: () => dropExpiredResults(client.db) },
  ];
  // A PostgreSQL server vacuums itself, and its copies are its administrator's business.
  const embeddedOnly: Job[] = [
    { name: "storage.vacuum", cron: "15 3 * * *", run: () => vacuumTables(client.db) },
    { name: "storage.backup", cron: "30 3 * * *", run: async () => void (await backup()) },
  ];
  return client.engine === "pglite" ? [...everywhere, ...embeddedOnly] : everywhere;
}
