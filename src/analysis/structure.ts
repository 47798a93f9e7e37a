import type { JsonSchema, JsonValue } from "../base/json.ts";
import type { BehaviourFacts } from "./behaviour/behaviour-facts.ts";
import type { UneditedRuns } from "./text-edits.ts";

/** A range of the submitted program; lines count from 1, columns from 0, offsets in UTF-16 units. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
}

/** The source of an argument's value. */
export type ArgumentValue =
  | { readonly type: "literal"; readonly value: JsonValue }
  /** `n1.content`: node id and path. A larger expression keeps its text and lists the nodes it reads. */
  | { readonly type: "reference"; readonly expression: string; readonly nodes: readonly string[] }
  | { readonly type: "parameter"; readonly parameterName: string };

export type ArgumentsStructure = Readonly<Record<string, ArgumentValue>>;

interface NodeBase {
  readonly id: string;
  /** Distinguishes nodes of the same tool for people: `fs:read (config.json)`. */
  readonly label: string;
  readonly range: SourceRange;
}

export type StructureNode = NodeBase &
  (
    | { readonly type: "task"; readonly tool: string; readonly arguments?: ArgumentsStructure }
    | { readonly type: "capability"; readonly capability: string; readonly arguments?: ArgumentsStructure }
    /** A call whose tool is known only at run time. */
    | { readonly type: "dynamic"; readonly expression: string }
    | { readonly type: "decision"; readonly condition: string }
    | { readonly type: "fork"; readonly combinator: "all" | "allSettled" | "race" | "any" }
    | { readonly type: "join" }
    | { readonly type: "loop"; readonly over: string }
    | { readonly type: "try" }
  );

export interface FieldMapping {
  readonly fromField: string;
  readonly toField: string;
  readonly typeCompatible: boolean;
}

export type Coverage = "strict" | "partial" | "optional";

export type StructureEdge = { readonly from: string; readonly to: string } & (
  | { readonly type: "sequence" }
  /** `true`, `false`, `case "a"`, `default`, `catch`. */
  | { readonly type: "conditional"; readonly outcome: string }
  | { readonly type: "provides"; readonly coverage?: Coverage; readonly fieldMapping?: readonly FieldMapping[] }
  /** Leads from a loop or `try` to the outermost nodes of its body. */
  | { readonly type: "contains" }
);

/** The static DAG of a program, known before it runs. Nodes are in source order. */
export interface StaticStructure {
  readonly nodes: readonly StructureNode[];
  readonly edges: readonly StructureEdge[];
}

/** The facts about a tool that the analysis uses. */
export interface ToolFacts {
  /** `server:tool`. */
  readonly id: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

/** Resolves names in code to tools; the analysis never sees a database. */
export interface ToolCatalogue {
  /** Takes the names used in code: `mcp.<server>.<tool>`, in identifier or original spelling. */
  findTool(server: string, tool: string): ToolFacts | undefined;
}

/** A program ready to run: JavaScript with marked call sites and branches. */
export interface InstrumentedProgram {
  /** An expression that evaluates to `async (args, __pml) => …`. */
  readonly code: string;
  /** The ranges of the submitted text that `code` has unchanged. */
  readonly runs: UneditedRuns;
  /** Maps a position in `code` (line from 1, column from 0) to the submitted text. */
  readonly originalPosition: (line: number, column: number) => { readonly line: number; readonly column: number };
}

export interface AnalysedProgram {
  readonly structure: StaticStructure;
  /** JSON Schema of `args`. */
  readonly parameters: JsonSchema;
  /** Undeclared names, which the program reads from `args`. */
  readonly implicitParameters: readonly string[];
  /** Undefined for a program without calls, and for one with a construct that the canonical form does not know. */
  readonly behaviour?: BehaviourFacts | undefined;
  /** SHA-256 in hex over the source without comments, formatting and types. */
  readonly hash: string;
  /** Ids of all tools the program can call, sorted; does not include computed names. */
  readonly tools: readonly string[];
  /** Names of all capabilities the program can call, sorted. */
  readonly capabilities: readonly string[];
  readonly hasDynamicCalls: boolean;
  /** Texts of the program that are not code and long enough to hold a secret. */
  readonly literals: readonly LiteralRange[];
  readonly instrumented: InstrumentedProgram;
}

/** A string, a piece of a template or a comment, between its delimiters. */
export type LiteralRange = readonly [start: number, end: number, kind?: "comment"];

export interface SyntaxProblem {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** The offending line of the program. */
  readonly excerpt: string;
  /** The fix, where one is known. */
  readonly hint?: string;
}

export type AnalysisOutcome =
  | { readonly kind: "program"; readonly program: AnalysedProgram }
  | { readonly kind: "syntax_error"; readonly problem: SyntaxProblem };
