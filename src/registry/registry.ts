import type { CachePolicy, Capability } from "./capability.ts";
import type { CapabilityRecord, CapabilityVersion, Health, RecordType, Routing, Visibility } from "./record.ts";
import type { Asker } from "./scope.ts";

export const CONFLICT_POLICIES = ["error", "version", "suffix"] as const;
/** What becomes of a name that another program has: refused, a new version of that one, or a similar name. */
type OnConflict = (typeof CONFLICT_POLICIES)[number];

/** Who made a change: a person, an agent, or PML by itself. */
export type ChangedVia = "auto" | "user" | "agent";

/** What a name, FQDN or id stands for. */
export interface Resolved {
  /** The version that was asked for. */
  readonly capability: Capability;
  /** Where it was asked for by a former name: what to say about that. */
  readonly warning: string | undefined;
}

export interface ResolveOptions {
  /** As code spells names: `_` for `-`, and an action alone where only one capability has it. */
  readonly inCode?: boolean;
}

export const RECORD_SORTS = ["name", "usage", "created"] as const;

export interface RecordFilter {
  readonly namespace?: string;
  /** A glob over display names: `fs:*`. */
  readonly pattern?: string;
  /** Words of name or description. */
  readonly text?: string;
  readonly namedOnly?: boolean;
  /** A glob over names of principals: `erwan@*`. */
  readonly createdBy?: string;
  /** All of them. */
  readonly tags?: readonly string[];
  readonly visibility?: Visibility;
  /** A glob over the tag of the current version: `v1.*`. */
  readonly versionTag?: string;
  readonly routing?: Routing;
  readonly health?: Health;
  readonly recordType?: RecordType;
  /** Left out: active ones. */
  readonly states?: readonly CapabilityRecord["state"][];
}

export interface RecordQuery extends RecordFilter {
  readonly sortBy?: (typeof RECORD_SORTS)[number];
  readonly limit: number;
  readonly offset?: number;
  /** From the page before; the order must be the same. */
  readonly cursor?: string;
}

export interface RecordPage {
  readonly records: readonly CapabilityRecord[];
  /** undefined: that was all. */
  readonly nextCursor: string | undefined;
  /** Of all pages; told with the first one. */
  readonly total: number | undefined;
}

/** What comes with a name, when a program is named or saved. */
export interface Naming {
  readonly name: string;
  readonly onConflict?: OnConflict;
  readonly versionTag?: string;
  readonly changeSummary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly visibility?: Visibility;
}

/** What can be said about a record without making it another one. */
export interface Marks {
  readonly tags?: readonly string[];
  readonly cachePolicy?: CachePolicy;
  /** How long an answer is kept; null for as long as it fits. */
  readonly ttlSeconds?: number | null;
}

export interface NewVersion {
  readonly code: string;
  readonly versionTag?: string;
  readonly changeSummary?: string;
  readonly description?: string;
}

/** A change that was made, and what there is to say about it. */
export interface Changed {
  readonly record: CapabilityRecord;
  readonly warnings: readonly string[];
}

export interface Renamed extends Changed {
  readonly oldName: string;
  readonly oldFqdn: string;
}

/**
 * The names of capabilities and everything that can be done to what is behind them. A reference is a
 * display name, a former one, an FQDN or an id, with or without `cap:`, with or without `@version`;
 * `org.project:name` is one of another project. Whatever changes something is one transaction, told
 * after its commit. Methods throw `PmlError`s: `capability_not_found` also for what the asker may not see.
 */
export interface Registry {
  /** To run it. Public code of another organisation needs its FQDN. */
  resolve(asker: Asker, reference: string, options?: ResolveOptions): Promise<Resolved>;
  /** The record, with the version that was asked for as its current one. */
  lookup(asker: Asker, reference: string): Promise<CapabilityRecord & { readonly warning?: string }>;
  /** By FQDN, former FQDN, or any other reference. */
  whois(asker: Asker, reference: string): Promise<CapabilityRecord>;
  /** Newest first. */
  history(asker: Asker, reference: string): Promise<readonly CapabilityVersion[]>;
  /** Everything the asker may see, whatever project it belongs to. */
  query(asker: Asker, query: RecordQuery): Promise<RecordPage>;
  /** What the scope itself has. */
  list(asker: Asker, query: RecordQuery): Promise<RecordPage>;

  rename(
    asker: Asker,
    request: { readonly from: string; readonly to: string; readonly via: ChangedVia },
  ): Promise<Renamed>;
  /** Replaces the tags, and says how long answers may be used again; what is left out stays. */
  tag(asker: Asker, request: { readonly name: string } & Marks): Promise<Changed>;
  /** One more name for a record, as a former one would be. */
  alias(asker: Asker, request: { readonly name: string; readonly alias: string }): Promise<Changed>;
  /** A former name leads nowhere any more. */
  retireAlias(asker: Asker, request: { readonly name: string; readonly alias: string }): Promise<Changed>;
  fork(asker: Asker, request: { readonly source: string; readonly name?: string }): Promise<Changed>;
  /** A pipeline of capabilities; the result of each is laid over the arguments of the next. */
  merge(
    asker: Asker,
    request: { readonly sources: readonly string[]; readonly name: string; readonly code?: string },
  ): Promise<Changed>;
  /** Out of lists and out of use, until it is restored. */
  archive(asker: Asker, reference: string): Promise<Changed>;
  /** Gone, but for its name, which stays reserved for some time and can be restored that long. */
  remove(asker: Asker, reference: string): Promise<Changed>;
  /** Of what was archived or removed. */
  restore(asker: Asker, reference: string): Promise<Changed>;
  /** A new version, which becomes the current one. */
  update(asker: Asker, request: { readonly name: string } & NewVersion): Promise<Changed>;
  /** Keeps a program without running it. It is listed after its first success. */
  save(
    asker: Asker,
    /** `forkedFrom`: the FQDN it was copied from. */
    request: { readonly code: string; readonly forkedFrom?: string } & Naming,
  ): Promise<Changed>;
  feedback(
    asker: Asker,
    request: { readonly name: string; readonly success: boolean; readonly latencyMs?: number },
  ): Promise<CapabilityRecord>;
  /** Told after every change of a scope, by whichever gateway it was made. Returns what ends the subscription. */
  onChange(listener: () => void): () => void;
}
