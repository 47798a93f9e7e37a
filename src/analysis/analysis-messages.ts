import type { AnalysedProgram, SyntaxProblem, ToolFacts } from "./structure.ts";
import type { UneditedRuns } from "./text-edits.ts";

/** The names of a tool in code. */
export type ToolName = readonly [server: string, tool: string];

/** A program for the thread. */
export interface AnalysisTask {
  readonly code: string;
  readonly maxOutputBytes: number;
  /** Changes with every change of a tool; the thread forgets the tools of another version. */
  readonly toolsVersion: number;
  /** Tools that the thread asked for; null where there is none of that name. */
  readonly tools: readonly { readonly name: ToolName; readonly facts: ToolFacts | null }[];
}

export type AnalysisAnswer =
  /** The thread needs these tools first. */
  | { readonly kind: "tools_missing"; readonly names: readonly ToolName[] }
  | {
      readonly kind: "program";
      /** JSON of the program without its code: parsing it is faster than copying the objects between threads. */
      readonly facts: string;
      readonly code: string;
      readonly runs: UneditedRuns;
    }
  | { readonly kind: "limit"; readonly limit: "maxOutputBytes" }
  | { readonly kind: "syntax_error"; readonly problem: SyntaxProblem }
  | { readonly kind: "failed"; readonly message: string; readonly deep: boolean };

export type ProgramFacts = Omit<AnalysedProgram, "instrumented">;
