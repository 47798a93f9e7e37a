import { createLexicalRanker } from "../discovery/lexical-ranker.ts";
import type { KeptResults } from "../results/kept-results.ts";
import type { OwnTool } from "./own-tool.ts";
import type { Surface } from "./surface.ts";
import { createDiscover } from "./tools/discover.ts";
import { createGetTaskResult } from "./tools/get-task-result.ts";

/** All that PML's own tools are made of. */
export interface OwnToolParts {
  readonly surface: () => Surface;
  readonly results: KeptResults;
  readonly maxResultBytes: () => number;
}

/** PML's own tools, in the order in which they are listed. */
export function createOwnTools({ surface, results, maxResultBytes }: OwnToolParts): readonly OwnTool[] {
  return [
    createDiscover({ surface, createRanker: createLexicalRanker }),
    createGetTaskResult({ results, maxBytes: maxResultBytes }),
  ];
}
