import type { Db, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { applyNaming, checkNaming, type NameCheck, type ProgramToName } from "./apply-naming.ts";
import type { PreparedSource } from "./capability.ts";
import { findCapabilityById, insertCapability } from "./capability-store.ts";
import { archiveRecord, removeRecord, restoreRecord, tagRecord } from "./change-state.ts";
import { addVersion, forkRecord, pipelineOf, refuseUnnamedFork } from "./change-versions.ts";
import { aliasWarning, getOwnRecord, getRecord, notFound, versionOf } from "./find-record.ts";
import { isUnnamed } from "./fqdn.ts";
import { NameCache } from "./name-cache.ts";
import type { NamePolicy } from "./names.ts";
import { lockNames, setOrigin } from "./naming-store.ts";
import { countRecords, queryRecords, type Reach } from "./query-store.ts";
import type { CapabilityRecord } from "./record.ts";
import { countUse, readRecord, readVersions } from "./record-store.ts";
import type { Changed, RecordPage, RecordQuery, Registry, Renamed, Resolved, ResolveOptions } from "./registry.ts";
import { aliasRecord, renameRecord, retireAlias } from "./rename-record.ts";
import type { Asker } from "./scope.ts";
import { checkVersionTag } from "./specifier.ts";
import { bumpScope } from "./scope-version-store.ts";
import { insertDependencies } from "./version-store.ts";

export interface RegistryOptions {
  readonly db: Db;
  readonly policy: () => NamePolicy;
  /** Analyses a program; throws where it cannot be kept. */
  readonly prepare: (code: string) => PreparedSource;
}

type Request<Method extends keyof Registry> = Parameters<Registry[Method]>[1];

const MOST_NAMES_KEPT = 5_000;
const MOST_COUNTS_KEPT = 500;
/** What is filtered by these changes without anybody being told. */
const UNTOLD = ["routing", "health", "states", "createdBy"] as const;

/** The registry over the database, with what was looked up lately in memory. */
export class CapabilityRegistry implements Registry {
  readonly #options: RegistryOptions;
  readonly #resolved = new NameCache<Resolved>(MOST_NAMES_KEPT);
  /** Counting takes longer than everything else about a page. */
  readonly #counts = new NameCache<number>(MOST_COUNTS_KEPT);
  readonly #listeners = new Set<() => void>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Something changed, here or on another gateway: everything is read again. */
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

  /** By the name that agents and people use. */
  async resolveByName(name: string, asker: Asker): Promise<Resolved["capability"]> {
    return (await this.resolve(asker, name)).capability;
  }

  async lookup(asker: Asker, reference: string): Promise<CapabilityRecord & { readonly warning?: string }> {
    const { db } = this.#options;
    const found = await getRecord(db, asker, reference);
    const version = await versionOf(db, found, found.reference.specifier);
    const warning = aliasWarning(found);
    const record = await readRecord(db, found.scope.org, { id: found.id, version });
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

  async rename(asker: Asker, { from, to, via }: Request<"rename">): Promise<Renamed> {
    const policy = this.#options.policy();
    const renamed = await this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, from);
      const warnings = await renameRecord(tx, asker, { record, to, via, policy });
      return { ...(await done(tx, asker, record.id, warnings)), oldName: record.displayName, oldFqdn: record.fqdn };
    });
    return renamed;
  }

  tag(asker: Asker, { name, ...marks }: Request<"tag">): Promise<Changed> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      await tagRecord(tx, asker, { record, marks });
      return done(tx, asker, record.id);
    });
  }

  alias(asker: Asker, { name, alias }: Request<"alias">): Promise<Changed> {
    const policy = this.#options.policy();
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      return done(tx, asker, record.id, await aliasRecord(tx, asker, { record, alias, policy }));
    });
  }

  retireAlias(asker: Asker, { name, alias }: Request<"retireAlias">): Promise<Changed> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      await retireAlias(tx, asker, { record, alias });
      return done(tx, asker, record.id);
    });
  }

  async fork(asker: Asker, { source: reference, name: wanted }: Request<"fork">): Promise<Changed> {
    const { db, policy } = this.#options;
    const source = await getRecord(db, asker, reference);
    const version = await versionOf(db, source, source.reference.specifier);
    if (wanted === undefined && isUnnamed(source.displayName)) throw refuseUnnamedFork(source);
    const name = wanted ?? source.displayName;
    return this.#change(asker, async (tx) => {
      const { id, warnings } = await forkRecord(tx, asker, { source, version, name, policy: policy() });
      return done(tx, asker, id, warnings);
    });
  }

  async merge(asker: Asker, { sources, name, code }: Request<"merge">): Promise<Changed> {
    const steps = await Promise.all(sources.map((source) => this.#step(asker, source)));
    const description = `Pipeline of ${steps.map((step) => step.name).join(", ")}`;
    return this.save(asker, { code: code ?? pipelineOf(steps), name, description });
  }

  archive(asker: Asker, reference: string): Promise<Changed> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, reference);
      await archiveRecord(tx, asker, record);
      return done(tx, asker, record.id);
    });
  }

  remove(asker: Asker, reference: string): Promise<Changed> {
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, reference);
      await removeRecord(tx, asker, record);
      return done(tx, asker, record.id);
    });
  }

  restore(asker: Asker, reference: string): Promise<Changed> {
    const policy = this.#options.policy();
    return this.#change(asker, async (tx) => done(tx, asker, await restoreRecord(tx, asker, { reference, policy })));
  }

  async update(asker: Asker, { name, code, ...rest }: Request<"update">): Promise<Changed> {
    const prepared = this.#options.prepare(code);
    const calls = await this.#recordsCalled(asker, prepared);
    return this.#change(asker, async (tx) => {
      const record = await getOwnRecord(tx, asker, name);
      const warnings = await addVersion(tx, asker, { ...rest, record, prepared, calls });
      return done(tx, asker, record.id, warnings);
    });
  }

  async save(asker: Asker, { code, forkedFrom, ...naming }: Request<"save">): Promise<Changed> {
    const { policy, prepare } = this.#options;
    const prepared = prepare(code);
    const calls = await this.#recordsCalled(asker, prepared);
    return this.#change(asker, async (tx) => {
      const versionTag = naming.versionTag === undefined ? {} : { versionTag: checkVersionTag(naming.versionTag) };
      const { id, version, state } = await insertCapability(tx, asker, { ...prepared, ...naming, ...versionTag });
      await insertDependencies(tx, asker.scope, { from: id, version, to: calls });
      const program = { asker, id, naming, via: "agent", fresh: state === "draft" } as const;
      const named = await applyNaming(tx, policy(), program);
      if (forkedFrom !== undefined && program.fresh) await setOrigin(tx, asker.scope, { id: named.id, forkedFrom });
      return done(tx, asker, named.id, named.warnings);
    });
  }

  async feedback(asker: Asker, { name, success, latencyMs = 0 }: Request<"feedback">): Promise<CapabilityRecord> {
    const { db } = this.#options;
    const { id, scope } = await getRecord(db, asker, name);
    if (scope.org !== asker.scope.org) throw notFound(name, undefined);
    await countUse(db, scope.org, { id, success, latencyMs });
    return readRecord(db, scope.org, { id });
  }

  /** Before a program runs that is to be named. */
  checkNaming(check: NameCheck): Promise<readonly string[]> {
    return checkNaming(this.#options.db, this.#options.policy(), check);
  }

  /** After it succeeded. */
  nameProgram(program: ProgramToName): Promise<Changed> {
    const { asker } = program;
    return this.#change(asker, async (tx) => {
      const { id, warnings } = await applyNaming(tx, this.#options.policy(), program);
      return done(tx, asker, id, warnings);
    });
  }

  async #page(asker: Asker, query: RecordQuery & Reach): Promise<RecordPage> {
    const page = await queryRecords(this.#options.db, asker, query);
    return { ...page, total: query.cursor === undefined ? await this.#count(asker, query) : undefined };
  }

  async #count(asker: Asker, query: RecordQuery & Reach): Promise<number> {
    const { sortBy: _order, limit: _size, offset: _place, cursor: _end, ...wanted } = query;
    const count = (): Promise<number> => countRecords(this.#options.db, asker, wanted);
    if (UNTOLD.some((key) => wanted[key] !== undefined)) return count();
    const key = JSON.stringify([asker, wanted]);
    return this.#counts.find(key) ?? this.#counts.load(key, count);
  }

  /** Ids of the records a program calls, as far as they are there. */
  async #recordsCalled(asker: Asker, { calls }: PreparedSource): Promise<string[]> {
    const found = await Promise.all(
      calls.map((name) => this.resolve(asker, name, { inCode: true }).catch(() => undefined)), // the call itself will say so
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
    // Code of strangers never runs because of its name.
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
    return { capability, warning: aliasWarning(found) };
  }

  /** One transaction, told after its commit. */
  async #change<T>(asker: Asker, work: (tx: Tx) => Promise<T>): Promise<T> {
    const result = await this.#options.db.transaction().execute(async (tx) => {
      await lockNames(tx, asker.scope);
      const outcome = await work(tx);
      await bumpScope(tx, asker.scope);
      return outcome;
    });
    this.forget();
    return result;
  }
}

async function done(tx: Tx, { scope }: Asker, id: string, warnings: readonly string[] = []): Promise<Changed> {
  return { record: await readRecord(tx, scope.org, { id }), warnings };
}

/** As short as it can be and still be found from there. */
function nameFor({ scope }: Asker, { scope: its, displayName, fqdn }: Resolved["capability"]): string {
  if (its.org !== scope.org) return fqdn;
  return its.project === scope.project ? displayName : `${its.org}.${its.project}:${displayName}`;
}
