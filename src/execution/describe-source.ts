import { createHash } from "node:crypto";
import type { CapabilitySource, DagStructure, PreparedSource } from "../registry/capability.ts";
import type { AnalysedPrograms } from "./analysed-programs.ts";
import { dagParameters, dagToStructure, layersOf } from "./dag-executor.ts";

/**
 * Prepares a DAG for storage, unsigned; throws on a missing dependency or a cycle.
 * @param shown the DAG with its secrets hidden
 */
export function describeDag(dag: DagStructure, shown: DagStructure = dag): PreparedSource {
  layersOf(dag);
  return {
    source: { type: "dag", dagStructure: shown },
    sourceHash: createHash("sha256")
      .update(`dag ${JSON.stringify(dag)}`)
      .digest("hex"),
    parameters: dagParameters(dag),
    structure: dagToStructure(shown),
    toolsUsed: [...new Set(dag.tasks.map(({ tool }) => tool))].toSorted(),
    calls: [],
  };
}

/** Computes everything that is stored about a source, unsigned; throws if it cannot be read. */
export async function describeSource(analysed: AnalysedPrograms, source: CapabilitySource): Promise<PreparedSource> {
  switch (source.type) {
    case "code": {
      const { hash, parameters, structure, tools, capabilities } = await analysed.analyse(source.code);
      return { source, sourceHash: hash, parameters, structure, toolsUsed: tools, calls: capabilities };
    }
    case "dag":
      return describeDag(source.dagStructure);
    case "tool":
    default:
      return analysed.describeAnyTool({ tool: source.toolId, defaults: source.defaultArgs ?? {} });
  }
}
