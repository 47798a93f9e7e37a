import type { JsonSchema } from "../base/json.ts";

/** What is shown of a named, active capability. */
export interface ListedCapability {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonSchema;
  /** What its results have looked like so far. */
  readonly output: JsonSchema | undefined;
  /** Through the capabilities it calls as well. */
  readonly tools: readonly string[];
  /** It may call tools that are not among these. */
  readonly dynamic: boolean;
  readonly usageCount: number;
}

/** Which of the capabilities are wanted for a list. */
export interface ListingChoice {
  /** At most so many besides the pinned ones, those that are used most; left out: all. */
  readonly limit: number | undefined;
  /** Names that are wanted in any case. */
  readonly pinned: readonly string[];
}
