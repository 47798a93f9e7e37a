import { isToolOf, parseToolId } from "../catalogue/tool-id.ts";
import type { Scope } from "../registry/scope.ts";
import type { ServerDefinition } from "../config/mcp-servers.ts";
import type { ChangedToolsPolicy, McpServerEntry } from "../config/schema.ts";
import type { Db } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { type KnownOffer, readOffers, writeEra, writeOffer } from "./offers/catalogue-store.ts";
import type { ToolChange } from "./offers/change-store.ts";
import type { EraVerdict } from "./connection/era-verdict.ts";
import { connectGradually } from "./connect-gradually.ts";
import { contentHash } from "../base/content-hash.ts";
import type { Offer } from "./offers/offer.ts";
import type { LoginAnswer, Logins, StartedLogin } from "./oauth/logins.ts";
import type { ProcessGroups } from "./connection/process-groups.ts";
import { readFlags, type ToolFlag } from "./offers/review-store.ts";
import { createServerOutput } from "./connection/server-output.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { hideInOffer } from "./offers/hide-secrets.ts";
import type { ServerStatus } from "./server-status.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";
import { UpstreamServer } from "./upstream-server.ts";

export interface UpstreamsOptions {
  readonly db: Db;
  readonly scope: Scope;
  readonly limits: UpstreamLimits;
  /** Default for servers without their own setting. */
  readonly changedTools: ChangedToolsPolicy;
  readonly logins: Logins;
  /** Records the servers' processes and ends those of an earlier daemon. */
  readonly groups: ProcessGroups;
  readonly log: Logger;
  /** Folder of the files with the servers' stderr. */
  readonly logFolder: string;
  readonly secrets: Pick<Secrets, "withoutKnown">;
}

/** A configured server with its offer, once it was reached. */
export interface KnownServer {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly offer: Offer | undefined;
  /** Tools with a definition that nobody accepted, by name. */
  readonly flags: ReadonlyMap<string, KnownFlag>;
}

export interface KnownFlag extends ToolFlag {
  /** True if the tool is hidden from clients until a person accepts it. */
  readonly held: boolean;
}

export interface ResourceUpdate {
  readonly server: string;
  readonly uri: string;
}

interface Member {
  definition: Extract<ServerDefinition, { state: "usable" }>;
  /** Hash of the entry, without the parts that do not affect the offer. */
  readonly configHash: string;
  readonly server: UpstreamServer;
  offer: Offer | undefined;
}

/** Changed tools of one offer that are logged by name. */
const MOST_LOGGED = 20;
const NO_FLAGS: ReadonlyMap<string, KnownFlag> = new Map();

/** All configured servers. Their stored offers are available before they connect. */
export class Upstreams implements AsyncDisposable {
  readonly #options: UpstreamsOptions;
  readonly #members = new Map<string, Member>();
  #flags: readonly ToolFlag[] = [];
  #unusable: readonly Exclude<ServerDefinition, { state: "usable" }>[] = [];
  readonly #changeListeners = new Set<() => void>();
  readonly #updateListeners = new Set<(update: ResourceUpdate) => void>();
  #writing: Promise<unknown> = Promise.resolve();
  #isClosing = false;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  /** Applies a configuration: servers with an unchanged entry keep connection and process. */
  async configure(definitions: readonly ServerDefinition[]): Promise<void> {
    const wanted = new Map(
      definitions.filter((definition) => definition.state === "usable").map((each) => [each.name, each]),
    );
    const { db, scope } = this.#options;
    const stored = new Map((await readOffers(db, scope)).map((each) => [each.server, each]));
    const flags = await readFlags(db, scope);
    // Synchronous from here on, so that a replaced server is never missing.
    this.#flags = flags;
    this.#unusable = definitions.filter((definition) => definition.state !== "usable");
    const leaving = [...this.#members.values()].filter(
      ({ definition: { name, entry } }) => hashRunning(wanted.get(name)?.entry) !== hashRunning(entry),
    );
    for (const { definition } of leaving) this.#members.delete(definition.name);
    for (const definition of wanted.values()) {
      const running = this.#members.get(definition.name);
      if (running !== undefined) {
        running.definition = definition;
        continue;
      }
      const configHash = hashSource(definition.entry);
      const known = stored.get(definition.name);
      const same = known?.configHash === configHash ? known : undefined;
      this.#members.set(definition.name, this.#join(definition, configHash, same));
    }
    this.#changed();
    await Promise.all(leaving.map(({ server }) => server[Symbol.asyncDispose]()));
  }

  /** Connects every server, those with a stored offer gradually. Failures are in their status. */
  connectInBackground(): void {
    const members = [...this.#members.values()];
    for (const { offer, server } of members) if (offer === undefined) server.connect().catch(() => undefined);
    void connectGradually(members.flatMap(({ offer, server }) => (offer === undefined ? [] : [server])));
  }

  get known(): readonly KnownServer[] {
    return [...this.#members.values()].map(({ definition, offer }) => ({
      name: definition.name,
      entry: definition.entry,
      offer,
      flags: this.#flagsOf(definition),
    }));
  }

  /** Applies decisions on tools and logins, made here or on another gateway. */
  async reload(): Promise<void> {
    this.#options.logins.reload();
    for (const { server } of this.#members.values()) {
      if (server.status.state === "login_needed") server.connect().catch(() => undefined); // it may still need one
    }
    await this.reloadFlags();
  }

  /** Reloads decisions on changed tools. */
  async reloadFlags(): Promise<void> {
    const flags = await readFlags(this.#options.db, this.#options.scope);
    if (contentHash(flags) === contentHash(this.#flags)) return;
    this.#flags = flags;
    this.#changed();
  }

  /** Applies at once what a person says about the hints of a server; the configuration has it too. */
  trustHints(name: string, belief: Pick<NonNullable<McpServerEntry["pml"]>, "trustHints" | "reads">): void {
    const member = this.#getMember(name);
    const { entry } = member.definition;
    member.definition = { ...member.definition, entry: { ...entry, pml: { ...entry.pml, ...belief } } };
    this.#changed();
  }

  findServer(name: string): UpstreamServer | undefined {
    return this.#members.get(name)?.server;
  }

  /** Begins a login to a remote server, for a person to complete. */
  async beginLogin(name: string): Promise<StartedLogin> {
    const { server, definition } = this.#getMember(name);
    // Makes the server name the login it wants, if it has not yet.
    if (server.status.state !== "login_needed") await server.connect().catch(() => undefined);
    return this.#options.logins.begin(name, definition.entry);
  }

  async finishLogin(answer: LoginAnswer): Promise<string> {
    const name = await this.#options.logins.finish(answer);
    const member = this.#members.get(name);
    if (member !== undefined) await this.#loginChanged(member);
    return name;
  }

  /** Waits for the login; returns whether it completed in time. */
  waitForLogin(id: string, ms: number): Promise<boolean> {
    return this.#options.logins.wait(id, ms);
  }

  /** Returns whether there was a login. */
  async endLogin(name: string): Promise<boolean> {
    const member = this.#getMember(name);
    const ended = await this.#options.logins.end(name, member.definition.entry);
    if (ended) await this.#loginChanged(member);
    return ended;
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

  /** Calls the listener when a server is added, removed or changes its offer. Returns a function that ends the subscription. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => void this.#changeListeners.delete(listener);
  }

  onResourceUpdate(listener: (update: ResourceUpdate) => void): () => void {
    this.#updateListeners.add(listener);
    return () => void this.#updateListeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#members.values()].map(({ server }) => server[Symbol.asyncDispose]()));
    await this.#writing;
    await this.#options.groups[Symbol.asyncDispose]();
  }

  #join(definition: Member["definition"], configHash: string, known: KnownOffer | undefined): Member {
    const { limits, logins, groups, log, logFolder } = this.#options;
    const { withoutKnown: hide } = this.#options.secrets;
    const { name, entry } = definition;
    const server = new UpstreamServer({
      name,
      entry,
      limits: entry.timeout === undefined ? limits : { ...limits, callMs: entry.timeout * 1000 },
      groups,
      log,
      output: createServerOutput(logFolder, { name, entry, hide }),
      auth: logins.authFor(name, entry),
      era: known?.era,
      onOffer: (fresh) => this.#learn(member, hideInOffer(fresh, hide)),
      onEra: (verdict) => this.#keepEra(member, verdict),
      onNotification: (method, params) => this.#heard(name, method, params),
    });
    const member: Member = { definition, configHash, server, offer: known?.offer };
    return member;
  }

  /** Stores the offer before publishing it: a changed tool that is hidden must not be offered meanwhile. */
  async #learn(member: Member, offer: Offer): Promise<void> {
    const { name } = member.definition;
    const { db, scope, log } = this.#options;
    const policy = this.#policyOf(member.definition);
    const offered = { server: name, configHash: member.configHash, offer, acceptsChanges: policy === "allow" };
    const write = async (): Promise<void> => {
      if (this.#isClosing) return; // it is read again at the next start
      if (this.#members.get(name) !== member) return; // it was replaced while it answered
      if (contentHash(member.offer) === contentHash(offer)) return;
      try {
        this.#tell(await writeOffer(db, scope, offered));
        this.#flags = await readFlags(db, scope);
        member.offer = offer;
        const { leftOut } = offer;
        if (leftOut !== undefined)
          log.warn({ server: name, leftOut }, "malformed entries of the server are not offered");
      } catch (error) {
        log.error({ server: name, error: String(error) }, "the server's offer could not be stored");
        // Nothing says whether it lowers an effect, so the gateway keeps the offer it had, or connects again.
        if (member.offer === undefined) throw error;
      }
      this.#changed();
    };
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => undefined); // only this server's connection fails
    await written;
  }

  #getMember(name: string): Member {
    const member = this.#members.get(name);
    if (member !== undefined) return member;
    throw new PmlError("server_not_found", `No server named "${name}" is in use`, { hint: "All servers: pml servers" });
  }

  async #loginChanged(member: Member): Promise<void> {
    await member.server.loginChanged();
    this.#keepEra(member, undefined);
    member.server.connect().catch(() => undefined); // the status has the outcome
  }

  #keepEra({ definition, configHash }: Member, verdict: EraVerdict | undefined): void {
    const { db, scope, log } = this.#options;
    const server = definition.name;
    this.#writing = this.#writing
      .then(() => writeEra(db, scope, { server, configHash }, verdict))
      .catch((error: unknown) => log.error({ server, error: String(error) }, "the server's era could not be stored"));
  }

  #tell(changes: readonly ToolChange[]): void {
    const { log } = this.#options;
    const open = changes.filter(({ verdict }) => verdict !== "accepted");
    for (const change of open.slice(0, MOST_LOGGED))
      log.warn({ ...change, review: `pml review ${change.toolId}` }, "a tool's definition changed");
    if (open.length > MOST_LOGGED) log.warn({ more: open.length - MOST_LOGGED }, "further tools changed: pml review");
  }

  #policyOf({ entry }: Member["definition"]): ChangedToolsPolicy {
    return entry.pml?.changedTools ?? this.#options.changedTools;
  }

  /** Returns the flagged tools of a server. A refused one is held regardless of the policy, as is one with less effect. */
  #flagsOf(definition: Member["definition"]): ReadonlyMap<string, KnownFlag> {
    if (this.#flags.length === 0) return NO_FLAGS; // the usual case, checked by every call
    const block = this.#policyOf(definition) === "block";
    const own = this.#flags.filter(({ toolId }) => isToolOf(toolId, definition.name));
    const isHeld = ({ state, lowered }: ToolFlag): boolean => block || state === "refused" || lowered !== undefined;
    return new Map(own.map((flag) => [parseToolId(flag.toolId).tool, { ...flag, held: isHeld(flag) }]));
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

/** Hashes an entry without the belief in its hints, for which no server is started anew. */
function hashRunning(entry: McpServerEntry | undefined): string {
  if (entry === undefined) return "";
  const { trustHints: _belief, reads: _confirmed, ...pml } = entry.pml ?? {};
  return contentHash({ ...entry, pml });
}

/** Hashes an entry without `pml`, which does not change the server: its tools stay while it is replaced. */
function hashSource({ pml: _treatment, ...source }: McpServerEntry): string {
  return contentHash(source);
}

function isUpdate(params: unknown): params is { uri: string } {
  return typeof params === "object" && params !== null && "uri" in params && typeof params.uri === "string";
}
