import type { Published } from "../registry/published.ts";
import type { ChangeOutcome, Registry } from "../registry/registry.ts";
import type { Signing } from "../registry/signature.ts";
import { OWNER, type Scope } from "../registry/scope.ts";
import { watchScopes } from "../registry/scope-watch.ts";
import type { Config } from "../config/load-config.ts";
import { type Catalogue, createCatalogue } from "../catalogue/catalogue.ts";
import type { Curator } from "../naming/curation/curator.ts";
import type { DatabaseClient } from "../db/client.ts";
import { migrate } from "../db/migrate.ts";
import { openEmbedded } from "../db/open-embedded.ts";
import { describeUrl, openPostgres } from "../db/open-postgres.ts";
import type { Ownership } from "../db/owner-lock.ts";
import { PmlError } from "../base/errors.ts";
import { createEventBus, type EventBus } from "../base/events.ts";
import { createAdopt } from "../housekeeping/adopt-published.ts";
import { backupDirectory, type BackupResult, writeBackup } from "../housekeeping/write-backup.ts";
import type { ExportFooter } from "../housekeeping/export-format.ts";
import { exportMemory, type LineSink } from "../housekeeping/export-memory.ts";
import { importMemory, type MemoryImport } from "../housekeeping/import-memory.ts";
import { startJobs } from "../housekeeping/job-queue.ts";
import { readSchemaVersion } from "../housekeeping/transfer-store.ts";
import type { Discovery, IndexStatus } from "../discovery/discovery.ts";
import type { Outcomes } from "../discovery/recall/outcomes.ts";
import type { Suggest } from "../discovery/suggest.ts";
import { createPermitCall, type PermitCall } from "../gateway/permit-call.ts";
import type { AnalysedPrograms } from "../execution/analysed-programs.ts";
import type { Engine } from "../execution/run-engine.ts";
import type { Inspector } from "../execution/inspect.ts";
import { housekeepingJobs } from "./housekeeping-jobs.ts";
import type { Logger } from "../base/log.ts";
import type { NameFacts } from "./name-facts.ts";
import { openCuration } from "./open-curation.ts";
import { openEngine } from "./open-engine.ts";
import { openRecords, type Records } from "./open-records.ts";
import { openSigning } from "./open-signing.ts";
import { importOptions } from "./open-transfer.ts";
import { createLogins, definedServers, openUpstreams } from "./open-upstreams.ts";
import { createPermissions, type Permissions } from "../permissions/permissions.ts";
import type { ToolVerdict } from "../permissions/plan.ts";
import { openResults, type Results } from "./open-results.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { createTrustHints, type TrustHints } from "./trust-hints.ts";
import { traced } from "../base/tracing.ts";
import type { Logins } from "../upstream/oauth/logins.ts";
import { decideReviews, listReviews, type Review, type ReviewRequest } from "../upstream/offers/tool-reviews.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { createUsageLog, type UsageLog } from "../gateway/usage/usage-log.ts";

interface DatabaseStatus {
  readonly engine: "pglite" | "postgres";
  readonly at: string;
  readonly schemaVersion: number;
}

/** Everything PML can do, built once. Protocol, HTTP and command line all call these operations. */
export interface App extends AsyncDisposable {
  /** The scope this gateway serves. */
  readonly scope: Scope;
  readonly events: EventBus;
  /** The tools of all servers. */
  readonly catalogue: Catalogue;
  readonly secrets: Secrets;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly permissions: Permissions;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly names: NameFacts;
  readonly records: Pick<Records, "servers" | "facts" | "listenAt">;
  readonly inspector: Inspector;
  /** Copies a capability that another gateway published. */
  adopt(published: Published, name?: string): Promise<ChangeOutcome>;
  readonly suggest: Suggest;
  readonly outcomes: Outcomes;
  /** Permits or refuses a call that an agent makes itself. */
  /** Takes the page of an approval, whose address is known once the daemon listens. */
  readonly createPermitCall: (approvalUrl: (id: string) => string) => PermitCall;
  readonly discovery: Discovery;
  /** Counts the indexed documents and names the evidence search has for them. */
  indexStatus(): Promise<IndexStatus>;
  readonly curator: Curator;
  readonly results: Results;
  readonly logins: Pick<Logins, "clientDocument" | "listenAt">;
  /** Resolves with the reason when the embedded database has died; the process can only end then. */
  readonly databaseLost: Promise<Error>;
  /** Applies the servers of a configuration; unchanged ones keep running. */
  configureServers(config: Config): Promise<void>;
  /** Applies the rules to a tool, without any approval of a program. */
  decideTool(id: string): Promise<ToolVerdict>;
  /** Lists changed tools that wait for a review. */
  listReviews(subject?: string): Promise<Review[]>;
  decideReviews(request: ReviewRequest): Promise<Review[]>;
  readonly trustHints: TrustHints;
  databaseStatus(): Promise<DatabaseStatus>;
  exportMemory(write: LineSink): Promise<ExportFooter>;
  importMemory(path: string): Promise<MemoryImport>;
  backup(): Promise<BackupResult>;
}

export interface AppOptions {
  readonly config: Config;
  readonly ownership: Ownership;
  /** Secrets that are hidden in everything that is stored or shown. */
  readonly secrets: Secrets;
  readonly log: Logger;
}

export async function createApp({ config, ownership, secrets, log }: AppOptions): Promise<App> {
  await using opening = new AsyncDisposableStack();
  const { scope } = config;
  const signing = openSigning(config);
  const client = opening.use(await openDatabase(config, ownership, secrets));
  const events = createEventBus();
  opening.use(await watchChanges(client, events, log));
  const backup = createBackup(config, client);
  const permissions = opening.use(await createPermissions({ client, events, config, secrets }));
  const usage = opening.use(createUsageLog({ client, scope, log }));
  const logins = createLogins(config, client, { secrets, log });
  const upstreams = opening.use(await openUpstreams(config, { client, logins, secrets, log }));
  reloadWithScope(events, upstreams, log);
  const catalogue = opening.use(createCatalogue(upstreams));
  const common = { config, scope, signing, secrets, catalogue, upstreams, permissions, events, log };
  const runs = opening.use(openEngine({ ...common, client, usage }));
  const records = opening.use(await openRecords({ ...common, db: client.db, registry: runs.registry }));
  const curation = openCuration({ config, scope, client, registry: runs.registry, events, log });
  const jobs = opening.use(
    await startJobs({
      client,
      jobs: [...housekeepingJobs({ client, permissions, runs: config.runs, backup }), curation.job],
      onError: (error) => log.error({ error: error.message }, "job queue"),
    }),
  );
  opening.use(curation.watch(jobs));
  const open = opening.move();
  return {
    scope,
    events,
    ...runs,
    indexStatus: () => runs.discovery.status({ scope, principal: undefined }),
    records,
    curator: curation.curator,
    catalogue,
    secrets,
    upstreams,
    usage,
    permissions,
    createPermitCall: (approvalUrl) => createPermitCall(permissions, scope, approvalUrl),
    results: open.use(openResults(config, client.db)),
    databaseLost: client.lost,
    logins,
    async configureServers(changed) {
      await upstreams.configure(definedServers(changed, secrets));
      upstreams.connectInBackground();
    },
    decideTool: (id) => decideTool({ permissions, catalogue }, id),
    ...createReviewOperations(client, config, upstreams),
    ...createMemoryOperations({ config, client, signing, records, analysed: runs.analysed }),
    adopt: createAdopt({
      registry: runs.registry,
      asker: { scope, principal: OWNER },
      signing,
      signatureRequired: config.signing.required,
    }),
    backup,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function createBackup({ home, backup: { keep }, scope }: Config, client: DatabaseClient): App["backup"] {
  const directory = backupDirectory(home);
  return () => traced("memory.backup", {}, () => writeBackup(client, scope, { directory, keep }));
}

function watchChanges(client: DatabaseClient, events: EventBus, log: Logger): Promise<AsyncDisposable> {
  return watchScopes({
    client,
    onChange: ({ org, project }) => events.publish({ kind: "scope_changed", org, project }),
    onError: (error) => log.warn({ error: String(error) }, "reading scope versions failed; it is tried again"),
  });
}

/** Applies reviews that another gateway decided. */
function reloadWithScope(events: EventBus, upstreams: Upstreams, log: Logger): void {
  events.subscribe(({ kind }) => {
    if (kind !== "scope_changed") return;
    upstreams.reload().catch((error: unknown) => log.error({ error: String(error) }, "reading reviews failed"));
  });
}

function createReviewOperations(
  { db }: DatabaseClient,
  config: Config,
  upstreams: Upstreams,
): Pick<App, "listReviews" | "decideReviews" | "trustHints"> {
  const { scope } = config;
  return {
    trustHints: createTrustHints(config, db, upstreams),
    listReviews: (subject) => listReviews(db, scope, subject),
    async decideReviews(request) {
      const decided = await decideReviews(db, scope, request);
      await upstreams.reloadFlags();
      return decided;
    },
  };
}

interface MemoryParts {
  readonly config: Config;
  readonly client: DatabaseClient;
  readonly signing: Signing;
  readonly records: Records;
  readonly analysed: AnalysedPrograms;
}

function createMemoryOperations({
  records,
  ...parts
}: MemoryParts): Pick<App, "databaseStatus" | "exportMemory" | "importMemory"> {
  const { config, client } = parts;
  const { database, home, scope } = config;
  return {
    databaseStatus: async () => ({
      engine: client.engine,
      at: database.url === undefined ? home : describeUrl(database.url),
      schemaVersion: await readSchemaVersion(client.db),
    }),
    exportMemory: (write) => traced("memory.export", {}, () => exportMemory(client, scope, write)),
    async importMemory(path) {
      const imported = await traced("memory.import", {}, () => importMemory(path, importOptions(parts)));
      await records.takeImported();
      return imported;
    },
  };
}

async function decideTool(
  { permissions, catalogue }: Pick<App, "permissions" | "catalogue">,
  id: string,
): Promise<ToolVerdict> {
  const tool = catalogue.findById(id) ?? catalogue.withheld.find((each) => each.id === id);
  const verdict = tool && permissions.decideTool({ ...tool, schemaHash: tool.contentHash });
  if (verdict === undefined) {
    throw new PmlError("tool_not_found", `There is no tool "${id}"`, { hint: "All of them: pml tools" });
  }
  return verdict;
}

/** Opens and migrates the configured database: a server by its URL, otherwise the embedded one. */
async function openDatabase(config: Config, ownership: Ownership, secrets: Secrets): Promise<DatabaseClient> {
  const { url, poolSize } = config.database;
  const { withoutKnown: clean } = secrets;
  const client =
    url === undefined ? await openEmbedded(ownership, clean) : await openPostgres({ url, poolSize, clean });
  try {
    await migrate(client.db);
    return client;
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw error;
  }
}
