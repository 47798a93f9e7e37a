import type { KeptResults } from "../../gateway/results/kept-results.ts";
import type { OwnTool } from "./own-tool.ts";
import type { Surface } from "../../catalogue/surface.ts";
import { createCurate, type CurateParts } from "./pml-curate.ts";
import { createDiscover, type DiscoverParts } from "./pml-discover.ts";
import { createExecute, type ExecuteParts } from "./pml-execute.ts";
import type { StandardLibrary } from "../server/capability-calls.ts";
import { createGetTaskResult } from "./pml-get-task-result.ts";
import { createListCapabilities, type ListCapabilitiesParts } from "./pml-list-capabilities.ts";

/** Parts that the gateway gives PML's own tools. */
export interface OwnToolParts {
  readonly surface: () => Surface;
  readonly results: KeptResults;
  readonly maxResultBytes: () => number;
}

/** Parts that the rest of PML gives them. */
export type OwnToolSources = Omit<ExecuteParts, "findToolId"> &
  Omit<DiscoverParts, "surface"> &
  ListCapabilitiesParts &
  CurateParts;

/** The tools that PML itself serves. */
export interface OwnTools {
  /** Always listed, in this order. */
  readonly core: readonly OwnTool[];
  readonly library: StandardLibrary;
}

/** The `pml_*` tools, in the order in which they are listed. */
export function createCoreTools(parts: OwnToolParts & OwnToolSources): readonly OwnTool[] {
  const { surface, results, maxResultBytes } = parts;
  return [
    createExecute({ ...parts, findToolId: (name) => findToolId(surface(), name) }),
    createDiscover(parts),
    createGetTaskResult({ results, maxBytes: maxResultBytes }),
    createListCapabilities(parts),
    createCurate(parts, "pml_curate_capabilities"),
  ];
}

function findToolId(surface: Surface, name: string): string | undefined {
  const resolved = surface.toolNames.resolve(name);
  return resolved.kind === "found" ? surface.findTool(resolved.canonical)?.id : undefined;
}
