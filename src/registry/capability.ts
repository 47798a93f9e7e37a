import type { StaticStructure } from "../analysis/structure.ts";
import type { CACHE_POLICIES, RECORD_STATES } from "./record-words.ts";
import type { Scope } from "./scope.ts";
import type { JsonObject, JsonSchema } from "../base/json.ts";

/** One step of a DAG. Arguments may be references into earlier results: `{"$ref": "read.content"}`. */
export interface DagTask {
  readonly id: string;
  readonly tool: string;
  readonly arguments?: JsonObject;
  readonly dependsOn?: readonly string[];
  /** Runs only when this reference (or its negation with a leading `!`) holds. */
  readonly condition?: string;
  /** The run continues if this task fails; dependent tasks get null. */
  readonly safeToFail?: boolean;
}

export interface DagStructure {
  readonly tasks: readonly DagTask[];
}

export type CapabilitySource =
  | { readonly type: "code"; readonly code: string }
  | { readonly type: "dag"; readonly dagStructure: DagStructure }
  | { readonly type: "tool"; readonly toolId: string; readonly defaultArgs?: JsonObject };

export type CapabilityState = (typeof RECORD_STATES)[number];

/** Where results may be cached: nowhere, in the process, or in the database. */
export type CachePolicy = (typeof CACHE_POLICIES)[number];

/** One version of a capability, with everything needed to run it. */
export interface Capability {
  readonly id: string;
  readonly scope: Scope;
  readonly version: number;
  readonly displayName: string;
  readonly fqdn: string;
  readonly state: CapabilityState;
  readonly source: CapabilitySource;
  readonly sourceHash: string;
  readonly parameters: JsonSchema;
  /** As analysed when the version was written; empty for versions without one. */
  readonly structure: StaticStructure;
  readonly toolsUsed: readonly string[];
  readonly description: string | undefined;
  readonly cachePolicy: CachePolicy;
  readonly ttlSeconds: number | undefined;
  /** Versions of called capabilities, by id, from the first successful run. */
  readonly pins: Readonly<Record<string, number>>;
}

/** A program after analysis, ready to be stored. */
export interface PreparedSource {
  readonly source: CapabilitySource;
  readonly sourceHash: string;
  readonly parameters: JsonSchema;
  readonly structure: StaticStructure;
  readonly toolsUsed: readonly string[];
  /** Names of the capabilities it calls. */
  readonly calls: readonly string[];
  /** Left out where only the text identifies the program. */
  readonly behaviourKey?: string;
  /** Left out for an unsigned program. */
  readonly signature?: string;
}

/** The program text; null for a DAG or a tool. */
export function getCapabilityCode({ source }: Pick<Capability, "source">): string | null {
  return source.type === "code" ? source.code : null;
}

/** Reads the `structure` column, which is null for server records. */
export function toStructure(stored: Partial<StaticStructure> | null): StaticStructure {
  return { nodes: stored?.nodes ?? [], edges: stored?.edges ?? [] };
}
