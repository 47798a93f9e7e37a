import type { Scope } from "./scope.ts";
import type { JsonObject, JsonSchema, JsonValue } from "../base/json.ts";

/** One step of a DAG. Arguments may be references into earlier results: `{"$ref": "read.content"}`. */
export interface DagTask {
  readonly id: string;
  readonly tool: string;
  readonly arguments?: JsonObject;
  readonly dependsOn?: readonly string[];
  /** Runs only when this reference (or its negation with a leading `!`) holds. */
  readonly condition?: string;
  /** Its failure does not end the run; what depends on it gets null. */
  readonly safeToFail?: boolean;
}

export interface DagStructure {
  readonly tasks: readonly DagTask[];
}

/** What a capability does. */
export type CapabilitySource =
  | { readonly type: "code"; readonly code: string }
  | { readonly type: "dag"; readonly dagStructure: DagStructure }
  | { readonly type: "tool"; readonly toolId: string; readonly defaultArgs?: JsonObject };

export type CapabilityState = "draft" | "active" | "archived" | "deleted";

export const CACHE_POLICIES = ["none", "memoize", "persistent"] as const;
/** How long answers may be remembered: not at all, while the process lives, or in the database. */
export type CachePolicy = (typeof CACHE_POLICIES)[number];

/** One version of a capability, with everything that is needed to run it. */
export interface Capability {
  readonly id: string;
  /** Where it belongs. */
  readonly scope: Scope;
  readonly version: number;
  readonly displayName: string;
  readonly fqdn: string;
  readonly state: CapabilityState;
  readonly source: CapabilitySource;
  readonly sourceHash: string;
  readonly parameters: JsonSchema;
  /** A `StaticStructure`; kept as it was when the version was made. */
  readonly structure: JsonValue;
  readonly toolsUsed: readonly string[];
  readonly description: string | undefined;
  readonly cachePolicy: CachePolicy;
  readonly ttlSeconds: number | undefined;
  /** Versions of other capabilities, by id, that it first succeeded with. */
  readonly pins: Readonly<Record<string, number>>;
}

/** A program, analysed, as it is kept. */
export interface PreparedSource {
  readonly source: CapabilitySource;
  readonly sourceHash: string;
  readonly parameters: JsonSchema;
  readonly structure: JsonValue;
  readonly toolsUsed: readonly string[];
  /** Names of the capabilities it calls. */
  readonly calls: readonly string[];
  /** Left out: nobody vouches for it. */
  readonly signature?: string;
}

/** The program text, where the capability is one. */
export function getCapabilityCode({ source }: Pick<Capability, "source">): string | null {
  return source.type === "code" ? source.code : null;
}
