import type { StaticStructure } from "../../analysis/structure.ts";
import type { Capability, CapabilitySource } from "../capability.ts";
import type { JsonValue } from "../../base/json.ts";
import { diffCode } from "./code-diff.ts";
import { diffSchemas, type SchemaChange } from "./schema-diff.ts";
import { diffSets, diffStructures, type SetDiff, type StructureDiff } from "./structure-diff.ts";

/** What a version is compared by. */
export type ComparedVersion = Pick<Capability, "source" | "structure" | "parameters" | "toolsUsed">;

/** All that differs between two versions of a capability. */
export interface VersionDiff {
  /** Unified; of a DAG or a tool reference its JSON. Empty where only the form differs. */
  readonly code: string;
  readonly structure: StructureDiff;
  readonly tools: SetDiff;
  readonly parameters: readonly SchemaChange[];
  /** Whether calls that were right before may fail or mean something else. */
  readonly breaking: boolean;
}

export function diffVersions(before: ComparedVersion, after: ComparedVersion): VersionDiff {
  const parameters = diffSchemas(before.parameters, after.parameters);
  return {
    code: diffCode(toText(before.source), toText(after.source)),
    structure: diffStructures(toStructure(before.structure), toStructure(after.structure)),
    tools: diffSets(before.toolsUsed, after.toolsUsed),
    parameters,
    breaking: parameters.some(({ breaking }) => breaking),
  };
}

function toText(source: CapabilitySource): string {
  return source.type === "code" ? source.code : JSON.stringify(source, null, 2);
}

/** Versions of old kinds may have none. */
function toStructure(value: JsonValue): StaticStructure {
  const { nodes = [], edges = [] } = (value ?? {}) as unknown as Partial<StaticStructure>;
  return { nodes, edges };
}
