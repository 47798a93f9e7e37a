import type { Scope } from "../capabilities/scope.ts";
import type { ServerDefinition } from "../config/mcp-servers.ts";
import type { McpServerEntry } from "../config/schema.ts";
import type { Db } from "../db/client.ts";
import type { Logger } from "../log.ts";
import { readOffers, writeOffer } from "./catalogue-store.ts";
import { contentHash, type Offer } from "./offer.ts";
import type { ProcessGroups } from "./process-groups.ts";
import { createServerOutput } from "./server-output.ts";
import type { ServerStatus } from "./server-status.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";
import { UpstreamServer } from "./upstream-server.ts";

export interface UpstreamsOptions {
  readonly db: Db;
  readonly scope: Scope;
  readonly limits: UpstreamLimits;
  /** Where the servers' processes are noted, and what an earlier daemon left behind is ended. */
  readonly groups: ProcessGroups;
  readonly log: Logger;
  /** Where the servers' stderr is kept. */
  readonly logFolder: string;
}

/** A server of the configuration and, once it was ever reached, what it offers. */
export interface KnownServer {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly offer: Offer | undefined;
}

export interface ResourceUpdate {
  readonly server: string;
  readonly uri: string;
}

interface Member {
  readonly definition: Extract<ServerDefinition, { state: "usable" }>;
  readonly configHash: string;
  readonly server: UpstreamServer;
  offer: Offer | undefined;
}

/** All configured servers. Their offers are known from the start, whether or not they are connected. */
export class Upstreams implements AsyncDisposable {
  readonly #options: UpstreamsOptions;
  readonly #members = new Map<string, Member>();
  #unusable: readonly Exclude<ServerDefinition, { state: "usable" }>[] = [];
  readonly #changeListeners = new Set<() => void>();
  readonly #updateListeners = new Set<(update: ResourceUpdate) => void>();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  /** Takes over a configuration: servers whose entry is the same keep their connection and process. */
  async configure(definitions: readonly ServerDefinition[]): Promise<void> {
    const wanted = new Map(
      definitions.filter((definition) => definition.state === "usable").map((each) => [each.name, each]),
    );
    this.#unusable = definitions.filter((definition) => definition.state !== "usable");
    const leaving = [...this.#members.values()].filter(
      ({ definition, configHash }) => hashEntry(wanted.get(definition.name)?.entry) !== configHash,
    );
    for (const { definition } of leaving) this.#members.delete(definition.name);
    const stored = new Map(
      (await readOffers(this.#options.db, this.#options.scope)).map((each) => [each.server, each]),
    );
    for (const definition of wanted.values()) {
      if (this.#members.has(definition.name)) continue;
      const configHash = hashEntry(definition.entry);
      const known = stored.get(definition.name);
      this.#members.set(
        definition.name,
        this.#join(definition, configHash, known?.configHash === configHash ? known.offer : undefined),
      );
    }
    this.#changed();
    await Promise.all(leaving.map(({ server }) => server[Symbol.asyncDispose]()));
  }

  /** Connects every server, each at its own pace. Failures are in their status. */
  connectInBackground(): void {
    for (const { server } of this.#members.values()) server.connect().catch(() => undefined);
  }

  get known(): readonly KnownServer[] {
    return [...this.#members.values()].map(({ definition, offer }) => ({
      name: definition.name,
      entry: definition.entry,
      offer,
    }));
  }

  findServer(name: string): UpstreamServer | undefined {
    return this.#members.get(name)?.server;
  }

  get statuses(): readonly (
    | ServerStatus
    | { readonly name: string; readonly state: "disabled" | "unusable"; readonly lastError?: string }
  )[] {
    const others = this.#unusable.map((each) =>
      each.state === "disabled"
        ? { name: each.name, state: each.state }
        : { name: each.name, state: each.state, lastError: each.reason },
    );
    return [...[...this.#members.values()].map(({ server }) => server.status), ...others].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }

  /** Told when a server came, went, or offers something else. Returns what ends the subscription. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => void this.#changeListeners.delete(listener);
  }

  onResourceUpdate(listener: (update: ResourceUpdate) => void): () => void {
    this.#updateListeners.add(listener);
    return () => void this.#updateListeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ server }) => server[Symbol.asyncDispose]()));
    await this.#writing;
    await this.#options.groups[Symbol.asyncDispose]();
  }

  #join(definition: Member["definition"], configHash: string, offer: Offer | undefined): Member {
    const { limits, groups, log, logFolder } = this.#options;
    const { name, entry } = definition;
    const server = new UpstreamServer({
      name,
      entry,
      limits: entry.timeout === undefined ? limits : { ...limits, callMs: entry.timeout * 1000 },
      groups,
      log,
      output: createServerOutput(logFolder, name, entry),
      onOffer: (fresh) => this.#learn(member, fresh),
      onNotification: (method, params) => this.#heard(name, method, params),
    });
    const member: Member = { definition, configHash, server, offer };
    return member;
  }

  #learn(member: Member, offer: Offer): void {
    const { name } = member.definition;
    if (this.#members.get(name) !== member) return; // it was replaced while it answered
    const changed = contentHash(member.offer) !== contentHash(offer);
    member.offer = offer;
    if (!changed) return;
    const { db, scope, log } = this.#options;
    this.#writing = this.#writing
      .then(() => writeOffer(db, scope, { server: name, configHash: member.configHash, offer }))
      .then((changes) => {
        for (const change of changes) log.warn({ ...change }, "a tool's definition changed under its name");
      })
      .catch((error: unknown) =>
        log.error({ server: name, error: String(error) }, "the server's offer could not be stored"),
      );
    this.#changed();
  }

  #heard(server: string, method: string, params: unknown): void {
    const { log } = this.#options;
    if (method === "notifications/resources/updated" && isUpdate(params)) {
      for (const listener of this.#updateListeners) listener({ server, uri: params.uri });
    } else log.debug({ server, method }, "notification");
  }

  #changed(): void {
    for (const listener of this.#changeListeners) listener();
  }
}

function hashEntry(entry: McpServerEntry | undefined): string {
  return contentHash(entry ?? null);
}

function isUpdate(params: unknown): params is { uri: string } {
  return typeof params === "object" && params !== null && "uri" in params && typeof params.uri === "string";
}
