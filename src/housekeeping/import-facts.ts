import type { JsonObject, JsonSchema } from "../base/json.ts";
import type { PreparedSource } from "../registry/capability.ts";
import type { VersionRow } from "./import-rows.ts";

/** Facts about a version that are computed here, from its source alone. */
export interface VersionFacts {
  /** The source as it is stored; null where the text is the source. */
  readonly source: JsonObject | null;
  readonly sourceHash: string;
  readonly structure: PreparedSource["structure"] | null;
  readonly parameters: JsonSchema | null;
  readonly toolsUsed: readonly string[];
  /** Names of the capabilities it calls. */
  readonly calls: readonly string[];
  readonly behaviourKey?: string | undefined;
}

export type ImportedSource = Pick<VersionRow, "source_kind" | "code_snippet" | "source">;

/** Analyses a source; throws if it cannot be read. */
export type DescribeSource = (source: ImportedSource) => Promise<VersionFacts>;

/**
 * Takes from the file which parameters are required, where they exist; types and names are those that the code has. A
 * person may have made a lifted value optional, which the code does not show.
 */
export function withRequired(parameters: JsonSchema | null, given: unknown): JsonSchema | null {
  const required = (given as { readonly required?: unknown } | null | undefined)?.required;
  if (parameters === null || !Array.isArray(required)) return parameters;
  const known = (parameters["properties"] ?? {}) as JsonObject;
  const kept = required.filter((name): name is string => typeof name === "string" && Object.hasOwn(known, name));
  return { ...parameters, required: [...new Set(kept)] };
}
