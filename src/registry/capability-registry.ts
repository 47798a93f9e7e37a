import type { Db, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { applyNaming, checkNaming, type NameCheck, type ProgramToName } from "./apply-naming.ts";
import { introduceAgent } from "./author-store.ts";
import type { PreparedSource } from "./capability.ts";
import { findCapabilityById, findCapabilityBySource, insertCapability } from "./capability-store.ts";
import { archiveRecord, removeRecord, restoreRecord, tagRecord } from "./change-state.ts";
import { addVersion, forkRecord, pipelineOf, refuseUnnamedFork } from "./change-versions.ts";
import { aliasWarning, getOwnRecord, getRecord, notFound, versionOf } from "./find-record.ts";
import { isUnnamed } from "./fqdn.ts";
import { NameCache } from "./name-cache.ts";
import type { NamePolicy } from "./names.ts";
import { lockNames, setOrigin } from "./naming-store.ts";
import { countAuthored, countRecords, queryRecords, type RecordPageRequest } from "./query-store.ts";
import type { CapabilityRecord } from "./record.ts";
import type { FoundRecord } from "./resolve-store.ts";
import { countUse, countVerdict, readRecord, readVersions } from "./record-store.ts";
import type {
  ChangeOutcome,
  RecordPage,
  RecordQuery,
  Registry,
  RenameOutcome,
  Resolved,
  ResolveOptions,
} from "./registry.ts";
import { aliasRecord, renameRecord, retireAlias } from "./rename-record.ts";
import { type Asker, OWNER } from "./scope.ts";
import { checkVersionTag } from "./specifier.ts";
import { bumpScope } from "./scope-version-store.ts";
import { insertDependencies } from "./version-store.ts";

export interface RegistryOptions {
  readonly db: Db;
  readonly policy: () => NamePolicy;
  /** `limits.capabilities`; no limit by default. */
  readonly maxRecords?: number;
  /** Analyses a program; rejects if it cannot be stored. */
  readonly prepare: (code: string) => Promise<PreparedSource>;
}

type RequestOf<Method extends keyof Registry> = Parameters<Registry[Method]>[1];

const MAX_CACHED_NAMES = 5_000;
const MAX_CACHED_COUNTS = 500;
/** Filters over columns that change without a change notification; counts with them are not cached. */
const UNNOTIFIED_FILTERS = ["routing", "health", "states", "createdBy"] as const;

/** The registry over the database, with caches of resolved names and counts. */
export class CapabilityRegistry implements Registry {
  readonly #options: RegistryOptions;
  readonly #resolved = new NameCache<Resolved>(MAX_CACHED_NAMES);
  /** Cached because counting takes longer than reading the page itself. */
  readonly #counts = new NameCache<number>(MAX_CACHED_COUNTS);
  readonly #listeners = new Set<() => void>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Clears the caches and notifies the listeners after a change on this or another gateway. */
  forget(): void {
    this.#resolved.clear();
    this.#counts.clear();
    for (const listener of this.#listeners) listener();
  }

  async resolve(asker: Asker, reference: string, options: ResolveOptions = {}): Promise<Resolved> {
    const { scope, principal } = asker;
    const key = `${scope.org}/${scope.project}/${principal}/${options.inCode === true ? "code" : ""}/${reference}`;
    return this.#resolved.find(key) ?? this.#resolved.load(key, () => this.#resolve(asker, reference, options));
  }

  /** Resolves a display name. */
  async resolveByName(name: string, asker: Asker): Promise<Resolved["capability"]> {
    return (await this.resolve(asker, name)).capability;
  }

  async lookup(asker: Asker, reference: string): Promise<CapabilityRecord & { readonly warning?: string }> {
    const { db } = this.#options;
    const found = await getRecord(db, asker, reference);
    const version = await versionOf(db, found, found.reference.specifier);
    const warning = aliasWarning(found);
    const record = await readRecord(db, { ...asker, org: found.scope.org }, { id: found.id, version });
    return { ...record, ...(warning === undefined ? {} : { warning }) };
  }

  async whois(asker: Asker, reference: string): Promise<CapabilityRecord> {
    const { warning: _old, ...record } = await this.lookup(asker, reference);
    return record;
  }

  async history(asker: Asker, reference: string): ReturnType<Registry["history"]> {
    const found = await getRecord(this.#options.db, asker, reference);
    return readVersions(this.#options.db, found.scope.org, found.id);
  }

  query(asker: Asker, query: RecordQuery): Promise<RecordPage> {
    return this.#page(asker, { ...query, ownOnly: false });
  }

  list(asker: Asker, query: RecordQuery): Promise<RecordPage> {
    return this.#page(asker, { ...query, ownOnly: true });
  }

  async rename(asker: Asker, { from, to, via }: RequestOf<"rename">): Promise<RenameOutcome> {
    const policy = this.#options.policy();
    const renamed = await this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, from);
      const warnings = await renameRecord(tx, asker, { record, to, via, policy });
      return { ...(await done(tx, asker, record.id, warnings)), oldName: record.displayName, oldFqdn: record.fqdn };
    });
    return renamed;
  }

  tag(asker: Asker, { name, ...settings }: RequestOf<"tag">): Promise<ChangeOutcome> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      await tagRecord(tx, asker, { record, settings });
      return done(tx, asker, record.id);
    });
  }

  alias(asker: Asker, { name, alias }: RequestOf<"alias">): Promise<ChangeOutcome> {
    const policy = this.#options.policy();
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      return done(tx, asker, record.id, await aliasRecord(tx, asker, { record, alias, policy }));
    });
  }

  retireAlias(asker: Asker, { name, alias }: RequestOf<"retireAlias">): Promise<ChangeOutcome> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      await retireAlias(tx, asker, { record, alias });
      return done(tx, asker, record.id);
    });
  }

  async fork(asker: Asker, { source: reference, name: wanted }: RequestOf<"fork">): Promise<ChangeOutcome> {
    const { db, policy } = this.#options;
    const source = await getRecord(db, asker, reference);
    const version = await versionOf(db, source, source.reference.specifier);
    if (wanted === undefined && isUnnamed(source.displayName)) throw refuseUnnamedFork(source);
    await this.checkRoom(asker);
    const name = wanted ?? source.displayName;
    const prepared = await this.#prepareForeign(asker, { source, version });
    return this.#change(asker, async (tx) => {
      const { id, warnings } = await forkRecord(tx, asker, { source, version, name, policy: policy(), prepared });
      return done(tx, asker, id, warnings);
    });
  }

  /** Analyses another organisation's program here: its gateway's word about hash, tools and parameters is not taken. */
  async #prepareForeign(
    { scope }: Asker,
    { source, version }: { readonly source: FoundRecord; readonly version: number },
  ): Promise<PreparedSource | undefined> {
    if (source.scope.org === scope.org || source.recordType !== "capability") return undefined;
    const found = await findCapabilityById(this.#options.db, source.scope, { id: source.id, version });
    if (found?.source.type !== "code") return undefined;
    return withoutSignature(await this.#options.prepare(found.source.code));
  }

  async merge(asker: Asker, { sources, name, code }: RequestOf<"merge">): Promise<ChangeOutcome> {
    const steps = await Promise.all(sources.map((source) => this.#step(asker, source)));
    const description = `Pipeline of ${steps.map((step) => step.name).join(", ")}`;
    return this.save(asker, { code: code ?? pipelineOf(steps), name, description });
  }

  archive(asker: Asker, reference: string): Promise<ChangeOutcome> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, reference);
      await archiveRecord(tx, asker, record);
      return done(tx, asker, record.id);
    });
  }

  remove(asker: Asker, reference: string): Promise<ChangeOutcome> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, reference);
      await removeRecord(tx, asker, record);
      return done(tx, asker, record.id);
    });
  }

  restore(asker: Asker, reference: string): Promise<ChangeOutcome> {
    const policy = this.#options.policy();
    return this.#change(asker, async (tx) => done(tx, asker, await restoreRecord(tx, asker, { reference, policy })));
  }

  async checkChange(asker: Asker, reference: string): Promise<{ readonly id: string }> {
    return getOwnRecord(this.#options.db, asker, reference);
  }

  async update(asker: Asker, { name, code, ...rest }: RequestOf<"update">): Promise<ChangeOutcome> {
    const prepared = await this.#options.prepare(code);
    const calls = await this.#recordsCalled(asker, prepared);
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      const warnings = await addVersion(tx, asker, { ...rest, record, prepared, calls });
      return done(tx, asker, record.id, warnings);
    });
  }

  async save(asker: Asker, { code, forkedFrom, ...naming }: RequestOf<"save">): Promise<ChangeOutcome> {
    const { policy, prepare } = this.#options;
    const own = await prepare(code);
    const prepared = forkedFrom === undefined ? own : withoutSignature(own);
    const calls = await this.#recordsCalled(asker, prepared);
    return this.#change(asker, async (tx) => {
      const versionTag = naming.versionTag === undefined ? {} : { versionTag: checkVersionTag(naming.versionTag) };
      const known = await findCapabilityBySource(tx, asker, prepared.sourceHash);
      if (known === undefined) await this.checkRoom(asker, tx);
      const { id, version, state } =
        known ?? (await insertCapability(tx, asker, { ...prepared, ...naming, ...versionTag }));
      if (known === undefined) await insertDependencies(tx, asker.scope, { from: id, version, to: calls });
      const program = { asker, id, naming, via: "agent", fresh: state === "draft" } as const;
      const named = await applyNaming(tx, policy(), program);
      if (forkedFrom !== undefined && program.fresh) await setOrigin(tx, asker.scope, { id: named.id, forkedFrom });
      return done(tx, asker, named.id, named.warnings);
    });
  }

  async feedback(asker: Asker, { name, success, latencyMs = 0 }: RequestOf<"feedback">): Promise<CapabilityRecord> {
    const { db } = this.#options;
    const { id, scope, author } = await getRecord(db, asker, name);
    if (scope.org !== asker.scope.org) throw notFound(name, undefined);
    const { principal } = asker;
    const isSelfPraise = success && author === principal;
    if (principal === OWNER) await countUse(db, scope.org, { id, success, latencyMs });
    else if (!isSelfPraise) await countVerdict(db, scope.org, { id, principal, success, latencyMs });
    return readRecord(db, { principal, org: scope.org }, { id });
  }

  /** Throws if a principal has as many records as it may have. */
  async checkRoom(asker: Asker, db: Db | Tx = this.#options.db): Promise<void> {
    const { maxRecords = Infinity } = this.#options;
    if (asker.principal === OWNER || (await countAuthored(db, asker)) < maxRecords) return;
    throw new PmlError(
      "limit_exceeded",
      `There are ${maxRecords} capabilities of this principal (limits.capabilities)`,
      {
        hint: "Delete some with learn:delete, or raise limits.capabilities.",
      },
    );
  }

  /** Checks the name before the program runs. */
  checkNaming(check: NameCheck): Promise<readonly string[]> {
    return checkNaming(this.#options.db, this.#options.policy(), check);
  }

  /** Names the program after it succeeded. */
  nameProgram(program: ProgramToName): Promise<ChangeOutcome> {
    const { asker } = program;
    return this.#change(asker, async (tx) => {
      const { id, warnings } = await applyNaming(tx, this.#options.policy(), program);
      return done(tx, asker, id, warnings);
    });
  }

  async #page(asker: Asker, query: RecordPageRequest): Promise<RecordPage> {
    const page = await queryRecords(this.#options.db, asker, query);
    return { ...page, total: query.cursor === undefined ? await this.#count(asker, query) : undefined };
  }

  async #count(asker: Asker, query: RecordPageRequest): Promise<number> {
    const { sortBy: _order, limit: _size, offset: _place, cursor: _end, ...wanted } = query;
    const count = (): Promise<number> => countRecords(this.#options.db, asker, wanted);
    if (UNNOTIFIED_FILTERS.some((key) => wanted[key] !== undefined)) return count();
    const key = JSON.stringify([asker.scope, asker.principal, wanted]);
    return this.#counts.find(key) ?? this.#counts.load(key, count);
  }

  /** Ids of the records that a program calls; skips names that do not resolve. */
  async #recordsCalled(asker: Asker, { calls }: PreparedSource): Promise<string[]> {
    const found = await Promise.all(
      calls.map((name) => this.resolve(asker, name, { inCode: true }).catch(() => undefined)), // unknown names fail at the call
    );
    return found.flatMap((each) => (each === undefined ? [] : [each.capability.id]));
  }

  async #step(asker: Asker, source: string): Promise<Parameters<typeof pipelineOf>[0][number]> {
    const { capability } = await this.resolve(asker, source);
    const parameters = Object.keys(capability.parameters["properties"] ?? {});
    const at = source.indexOf("@");
    const name = `${nameFor(asker, capability)}${at < 0 ? "" : source.slice(at)}`;
    return { name, onlyParameter: parameters.length === 1 ? parameters[0] : undefined };
  }

  async #resolve(asker: Asker, text: string, options: ResolveOptions): Promise<Resolved> {
    const { db } = this.#options;
    const found = await getRecord(db, asker, text, options);
    // A foreign organisation's code runs only under its FQDN, never because a short name happens to match.
    const isForeign = found.scope.org !== asker.scope.org && found.reference.kind !== "fqdn";
    if (found.recordType !== "capability" || isForeign) throw notFound(text, undefined);
    if (found.state === "archived") {
      throw new PmlError("capability_archived", `${found.displayName} is archived`, {
        hint: "learn:restore brings it back.",
      });
    }
    const version = await versionOf(db, found, found.reference.specifier);
    const capability = await findCapabilityById(db, found.scope, { id: found.id, version });
    if (capability === undefined) throw notFound(text, undefined);
    return { capability, alias: found.alias, warning: aliasWarning(found) };
  }

  /** Runs `work` in one transaction under the name lock; notifies after the commit. */
  async #change<T>(asker: Asker, work: (tx: Tx) => Promise<T>): Promise<T> {
    const result = await this.#options.db.transaction().execute(async (tx) => {
      await lockNames(tx, asker.scope);
      await introduceAgent(tx, asker);
      const outcome = await work(tx);
      await bumpScope(tx, asker.scope);
      return outcome;
    });
    this.forget();
    return result;
  }
}

/** A copy of foreign code is not signed here: the key vouches for what was written on this gateway. */
function withoutSignature({ signature: _own, ...prepared }: PreparedSource): PreparedSource {
  return prepared;
}

async function done(tx: Tx, asker: Asker, id: string, warnings: readonly string[] = []): Promise<ChangeOutcome> {
  return { record: await readRecord(tx, { ...asker, org: asker.scope.org }, { id }), warnings };
}

/** The shortest name that resolves to the capability from the caller's scope. */
function nameFor({ scope }: Asker, { scope: its, displayName, fqdn }: Resolved["capability"]): string {
  if (its.org !== scope.org) return fqdn;
  return its.project === scope.project ? displayName : `${its.org}.${its.project}:${displayName}`;
}
