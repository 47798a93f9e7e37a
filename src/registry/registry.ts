import type { CachePolicy, Capability } from "./capability.ts";
import type { CapabilityRecord, CapabilityVersion, Health, RecordType, Routing } from "./record.ts";
import type { CONFLICT_POLICIES, RECORD_SORTS, Visibility } from "./record-words.ts";
import type { Asker } from "./scope.ts";

/** Handling of a taken name: refuse it, add a version to its holder, or append a number. */
type OnConflict = (typeof CONFLICT_POLICIES)[number];

/** Origin of a change: PML itself, a person, or an agent. */
export type ChangedVia = "auto" | "user" | "agent";

export interface Resolved {
  /** The requested version. */
  readonly capability: Capability;
  /** The former name that the reference was. */
  readonly alias: string | undefined;
  /** Set if the reference was an alias. */
  readonly warning: string | undefined;
}

export interface ResolveOptions {
  /** Accepts names as code spells them: `_` for `-`, and an action alone if it is unambiguous. */
  readonly inCode?: boolean;
}

export interface RecordFilter {
  readonly namespace?: string;
  /** A glob over display names: `fs:*`. */
  readonly pattern?: string;
  /** Words that the name or description must contain. */
  readonly text?: string;
  readonly namedOnly?: boolean;
  /** A glob over names of principals and agents: `erwan@*`. */
  readonly createdBy?: string;
  /** Records must have all of these. */
  readonly tags?: readonly string[];
  readonly visibility?: Visibility;
  /** A glob over the tag of the current version: `v1.*`. */
  readonly versionTag?: string;
  readonly routing?: Routing;
  readonly health?: Health;
  readonly recordType?: RecordType;
  /** Defaults to active records. */
  readonly states?: readonly CapabilityRecord["state"][];
}

export interface RecordQuery extends RecordFilter {
  readonly sortBy?: (typeof RECORD_SORTS)[number];
  readonly limit: number;
  readonly offset?: number;
  /** `nextCursor` of the previous page; requires the same `sortBy`. */
  readonly cursor?: string;
}

export interface RecordPage {
  readonly records: readonly CapabilityRecord[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
  /** Total over all pages; only on the first page. */
  readonly total: number | undefined;
}

/** A requested name with everything that is set along with it. */
export interface Naming {
  readonly name: string;
  readonly onConflict?: OnConflict;
  readonly versionTag?: string;
  readonly changeSummary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly visibility?: Visibility;
}

/** Settings that change a record without a new version. */
export interface RecordSettings {
  readonly tags?: readonly string[];
  readonly cachePolicy?: CachePolicy;
  /** Lifetime of cached results; null for no expiry. */
  readonly ttlSeconds?: number | null;
  readonly visibility?: Visibility;
}

export interface NewVersion {
  readonly code: string;
  readonly versionTag?: string;
  readonly changeSummary?: string;
  readonly description?: string;
}

/** A committed change with its warnings. */
export interface ChangeOutcome {
  readonly record: CapabilityRecord;
  readonly warnings: readonly string[];
}

export interface RenameOutcome extends ChangeOutcome {
  readonly oldName: string;
  readonly oldFqdn: string;
}

/**
 * Names of capabilities and operations on their records. A reference is a display name, an alias, an FQDN or an id,
 * with or without `cap:` and `@version`; `org.project:name` refers to another project. Each change is one transaction
 * and notifies listeners after the commit. Methods throw `PmlError`; `capability_not_found` also covers records that
 * the caller may not see, `capability_foreign` those it sees and may not change.
 */
export interface Registry {
  /** Resolves a capability to run it. Public code of another organisation needs its FQDN. */
  resolve(asker: Asker, reference: string, options?: ResolveOptions): Promise<Resolved>;
  /** Returns the record with the requested version in place of the current one. */
  lookup(asker: Asker, reference: string): Promise<CapabilityRecord & { readonly warning?: string }>;
  /** Like `lookup`, without the alias warning. */
  whois(asker: Asker, reference: string): Promise<CapabilityRecord>;
  /** Lists versions, newest first. */
  history(asker: Asker, reference: string): Promise<readonly CapabilityVersion[]>;
  /** Queries everything the caller may see, in any project. */
  query(asker: Asker, query: RecordQuery): Promise<RecordPage>;
  /** Queries the scope's own records. */
  list(asker: Asker, query: RecordQuery): Promise<RecordPage>;

  rename(
    asker: Asker,
    request: { readonly from: string; readonly to: string; readonly via: ChangedVia },
  ): Promise<RenameOutcome>;
  /** Replaces the given settings and leaves the others. */
  tag(asker: Asker, request: { readonly name: string } & RecordSettings): Promise<ChangeOutcome>;
  /** Adds an alias. */
  alias(asker: Asker, request: { readonly name: string; readonly alias: string }): Promise<ChangeOutcome>;
  /** Removes an alias. */
  retireAlias(asker: Asker, request: { readonly name: string; readonly alias: string }): Promise<ChangeOutcome>;
  fork(asker: Asker, request: { readonly source: string; readonly name?: string }): Promise<ChangeOutcome>;
  /** Saves a pipeline that overlays each step's arguments with the previous result. */
  merge(
    asker: Asker,
    request: { readonly sources: readonly string[]; readonly name: string; readonly code?: string },
  ): Promise<ChangeOutcome>;
  /** Removes a record from lists and from use until it is restored. */
  archive(asker: Asker, reference: string): Promise<ChangeOutcome>;
  /** Deletes a record; its name stays reserved, and it can be restored, for `reserveDays`. */
  remove(asker: Asker, reference: string): Promise<ChangeOutcome>;
  /** Restores an archived or deleted record. */
  restore(asker: Asker, reference: string): Promise<ChangeOutcome>;
  /** Adds a version and makes it current. */
  update(asker: Asker, request: { readonly name: string } & NewVersion): Promise<ChangeOutcome>;
  /** Stores a program without running it; lists show it after its first success. */
  save(
    asker: Asker,
    /** `forkedFrom` is the FQDN of the original. */
    request: { readonly code: string; readonly forkedFrom?: string } & Naming,
  ): Promise<ChangeOutcome>;
  /** Throws if the caller may not change the record. */
  checkChange(asker: Asker, reference: string): Promise<{ readonly id: string }>;
  /**
   * Counts a use that PML did not see. A principal counts once per capability, with its last verdict; praise of its own
   * counts nothing. The owner's counts as told.
   */
  feedback(
    asker: Asker,
    request: { readonly name: string; readonly success: boolean; readonly latencyMs?: number },
  ): Promise<CapabilityRecord>;
  /** Calls the listener after every change by any gateway; returns the unsubscribe function. */
  onChange(listener: () => void): () => void;
}
