import { allToolsOf, parseToolId } from "../catalogue/tool-id.ts";
import type { CapabilityRecord, Routing } from "../registry/record.ts";
import type { Registry } from "../registry/registry.ts";
import { Routings } from "../registry/routings.ts";
import type { Scope } from "../registry/scope.ts";
import type { Signing } from "../registry/signature.ts";
import type { Config } from "../config/load-config.ts";
import { contentHash } from "../base/content-hash.ts";
import type { Db } from "../db/client.ts";
import type { EventBus } from "../base/events.ts";
import type { Logger } from "../base/log.ts";
import { readPermissionSet } from "../permissions/permission-set-store.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { ConnectedServer } from "../registry/server-records/describe-connected.ts";
import type { RecordFacts } from "../registry/record-facts.ts";
import { ServerRecords } from "../registry/server-records/server-records.ts";
import type { KnownServer, Upstreams } from "../upstream/upstreams.ts";

export interface RecordParts {
  readonly config: Config;
  readonly scope: Scope;
  readonly db: Db;
  readonly registry: Pick<Registry, "lookup">;
  readonly signing: Signing;
  readonly upstreams: Upstreams;
  readonly permissions: Permissions;
  readonly events: EventBus;
  readonly log: Logger;
}

export interface Records extends AsyncDisposable {
  readonly servers: ServerRecords;
  readonly facts: RecordFacts;
  /** Sets the gateway's address, once it listens. */
  listenAt(url: string): void;
  /** Recomputes where imported records run. */
  takeImported(): Promise<void>;
}

/** Keeps server records and the routing of capabilities up to date. */
export async function openRecords(parts: RecordParts): Promise<Records> {
  const { config, scope, db, registry, signing, upstreams, permissions, events, log } = parts;
  let address = "http://127.0.0.1";
  const baseUrl = (): string => config.registry.baseUrl ?? address;
  const servers = new ServerRecords({ db, registry, signing, baseUrl });
  await servers.seed();
  const routings = new Routings({
    db,
    routingOf: (tool) => permissions.findRouting(tool) ?? routingOfServer(upstreams, tool),
    onError: (error) => log.error({ error: String(error) }, "finding out where capabilities run failed"),
  });
  const stack = new AsyncDisposableStack();
  stack.use(routings);
  stack.use(noteServers(parts, servers));
  stack.defer(
    events.subscribe(({ kind }) => {
      if (kind === "scope_changed" || kind === "permissions_changed") routings.refresh(scope);
    }),
  );
  // Computed at start, so that every export of the same memory is the same.
  await routings.update(scope);
  return {
    servers,
    facts: createFacts(parts, servers, routings),
    listenAt: (url) => void (address = url),
    takeImported: () => {
      routings.forget(scope);
      return routings.update(scope);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function createFacts({ db, permissions }: RecordParts, servers: ServerRecords, routings: Routings): RecordFacts {
  const routingOf = (record: CapabilityRecord): Routing =>
    (record.recordType === "mcp-server" ? permissions.findRouting(allToolsOf(record.action)) : undefined) ??
    routings.of(record);
  return {
    routingOf,
    describe: async (record) => ({ routing: routingOf(record), ...(await servers.describe(record)) }),
    setRouting: (record, routing) => routings.set(record, routing),
    serverTexts: (record) => servers.listTexts(record),
    permissionsOf: (record) => readPermissionSet(db, record),
  };
}

function routingOfServer({ known }: Upstreams, tool: string): Routing {
  const server = known.find(({ name }) => name === parseToolId(tool).server);
  return server === undefined || server.entry.url !== undefined ? "cloud" : "local";
}

/** Gives each server a record as soon as it has said what it is. */
function noteServers({ scope, upstreams, log }: RecordParts, servers: ServerRecords): AsyncDisposable {
  const noted = new Set<string>();
  let writing = Promise.resolve();
  const note = (): void => {
    const fresh = upstreams.known.filter(({ offer }) => offer !== undefined).map(toConnected);
    const unknown = fresh.filter((server) => !noted.has(contentHash(server)));
    for (const server of unknown) noted.add(contentHash(server));
    if (unknown.length === 0) return;
    writing = writing
      .then(() => servers.noteConnected(scope, unknown))
      .catch((error: unknown) => log.error({ error: String(error) }, "a connected server got no record"));
  };
  const end = upstreams.onChange(note);
  note();
  return {
    async [Symbol.asyncDispose]() {
      end();
      await writing;
    },
  };
}

function toConnected({ name, entry, offer }: KnownServer): ConnectedServer {
  const { command, args, url, type } = entry;
  const info = offer?.serverInfo;
  return {
    name,
    entry: { command, args, url, type },
    info: info && { name: info.name, version: info.version, title: info.title },
  };
}
