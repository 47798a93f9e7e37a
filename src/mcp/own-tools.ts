import { createLexicalRanker } from "../discovery/lexical-ranker.ts";
import type { KeptResults } from "../results/kept-results.ts";
import type { OwnTool } from "./own-tool.ts";
import type { Surface } from "./surface.ts";
import { createCurate, type CurateParts } from "./tools/curate.ts";
import { createDiscover } from "./tools/discover.ts";
import { createExecute, type ExecuteParts } from "./tools/execute.ts";
import { createGetTaskResult } from "./tools/get-task-result.ts";

/** All that PML's own tools are made of. */
export interface OwnToolParts {
  readonly surface: () => Surface;
  readonly results: KeptResults;
  readonly maxResultBytes: () => number;
}

/** What comes from the rest of PML. */
export type OwnToolSources = ExecuteParts & CurateParts;

/** PML's own tools, in the order in which they are listed. */
export function createOwnTools(parts: OwnToolParts & OwnToolSources): readonly OwnTool[] {
  const { surface, results, maxResultBytes } = parts;
  return [
    createExecute(parts),
    createDiscover({ surface, createRanker: createLexicalRanker }),
    createGetTaskResult({ results, maxBytes: maxResultBytes }),
    createCurate(parts, "pml_curate_capabilities"),
  ];
}
