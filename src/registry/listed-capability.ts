import type { JsonSchema } from "../base/json.ts";

/** A named, active capability as lists show it. */
export interface ListedCapability {
  readonly name: string;
  readonly description: string | undefined;
  /** Set if somebody else than the reader wrote it. */
  readonly author: string | undefined;
  readonly parameters: JsonSchema;
  /** Schema inferred from its results so far. */
  readonly output: JsonSchema | undefined;
  /** Tools it calls, directly or through other capabilities. */
  readonly tools: readonly string[];
  /** True if it may also call tools outside `tools`. */
  readonly dynamic: boolean;
  readonly usageCount: number;
}

/** Selects capabilities for a list. */
export interface ListingChoice {
  /** Most used capabilities to list besides the pinned ones; undefined lists all. */
  readonly limit: number | undefined;
  /** Names that are listed in any case. */
  readonly pinned: readonly string[];
}
