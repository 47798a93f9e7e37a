import type { Capability, CapabilitySource } from "../capability.ts";
import { diffCode } from "./code-diff.ts";
import { diffSchemas, type SchemaChange } from "./schema-diff.ts";
import { diffSets, diffStructures, type SetDiff, type StructureDiff } from "./structure-diff.ts";

/** Parts of a version that are compared. */
export type ComparedVersion = Pick<Capability, "source" | "structure" | "parameters" | "toolsUsed">;

/** Differences between two versions of a capability. */
export interface VersionDiff {
  /** Unified diff of the program, or of the JSON of a DAG or a tool; empty if only formatting differs. */
  readonly code: string;
  readonly structure: StructureDiff;
  readonly tools: SetDiff;
  readonly parameters: readonly SchemaChange[];
  /** True if calls that were valid before may fail or change their meaning. */
  readonly breaking: boolean;
}

export function diffVersions(before: ComparedVersion, after: ComparedVersion): VersionDiff {
  const parameters = diffSchemas(before.parameters, after.parameters);
  return {
    code: diffCode(toText(before.source), toText(after.source)),
    structure: diffStructures(before.structure, after.structure),
    tools: diffSets(before.toolsUsed, after.toolsUsed),
    parameters,
    breaking: parameters.some(({ breaking }) => breaking),
  };
}

function toText(source: CapabilitySource): string {
  return source.type === "code" ? source.code : JSON.stringify(source, null, 2);
}
