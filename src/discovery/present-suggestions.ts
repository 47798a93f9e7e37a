import { formatCallName } from "../catalogue/tool-id.ts";
import type { JsonObject, JsonSchema } from "../base/json.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import type { SuggestedDag } from "../learning/dag-suggester.ts";
import { declareCapability, declareTool } from "../learning/declaration.ts";
import { toTypeText } from "../learning/schema-type.ts";
import type { KnownCapability } from "./known-capability-store.ts";
import type { ArgumentSource } from "./recall/fill-arguments.ts";
import type { MatchedCapability } from "./recall/match-capabilities.ts";

/** `brief` is enough to call what fits; `full` adds schemas, types, statistics and a plan. */
export type SuggestionDetail = "brief" | "full";

export interface SuggestedTool {
  readonly id: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

export interface RankedTool {
  readonly tool: SuggestedTool;
  readonly score: number;
}

interface CommonParts {
  readonly callName: string;
  readonly score: number;
  readonly description?: string;
  /** TypeScript type of the arguments. */
  readonly takes?: string;
  /** TypeScript declaration, as programs call it. */
  readonly declaration?: string;
}

type ToolSuggestion = CommonParts & Partial<SuggestedTool>;

type CapabilitySuggestion = CommonParts &
  Partial<Omit<KnownCapability, "structure" | "successCount" | "observed" | "description">> & {
    /** The request to `pml_execute` that runs it, with the arguments known so far. */
    readonly call: { readonly capability: string; readonly args: JsonObject };
    readonly sources?: Readonly<Record<string, ArgumentSource>>;
    readonly missing?: readonly string[];
    readonly variants?: number;
    readonly successRate?: number | null;
  };

export interface PresentedSuggestions {
  readonly tools: readonly ToolSuggestion[];
  readonly capabilities: readonly CapabilitySuggestion[];
  /** A plan of a few steps, if one was found. */
  readonly suggestedDag?: SuggestedDag;
  /** Probability that the best capability is the intended one. */
  readonly confidence: number;
}

interface SuggestionParts {
  readonly tools: readonly RankedTool[];
  readonly matched: readonly MatchedCapability[];
  readonly suggestedDag: SuggestedDag | undefined;
}

/** About 400 tokens with the rest of the answer. */
const BRIEF_CHARACTERS = 1_300;
const LINE = 90;
const LONGEST_TYPE = 120;
/** One of each is shown at least. */
const SHOWN_FIRST = 1;

export function presentSuggestions(
  { tools, matched, suggestedDag }: SuggestionParts,
  detail: SuggestionDetail,
): PresentedSuggestions {
  const confidence = matched[0]?.confidence ?? 0;
  if (detail === "brief") {
    const shown = fitBrief({ tools: tools.map(presentToolBriefly), capabilities: matched.map(presentBriefly) });
    return { ...shown, confidence };
  }
  return {
    tools: tools.map(presentTool),
    capabilities: matched.map(presentCapability),
    ...(suggestedDag === undefined ? {} : { suggestedDag }),
    confidence,
  };
}

/** Drops the last entries until the rest fits: tools first, since capabilities say more. */
function fitBrief(all: Pick<PresentedSuggestions, "tools" | "capabilities">): typeof all {
  let { tools, capabilities } = all;
  const isTooLong = (): boolean => JSON.stringify({ tools, capabilities }).length > BRIEF_CHARACTERS;
  while (isTooLong() && tools.length > SHOWN_FIRST + 1) tools = tools.slice(0, -1);
  while (isTooLong() && capabilities.length > SHOWN_FIRST) capabilities = capabilities.slice(0, -1);
  while (isTooLong() && tools.length > SHOWN_FIRST) tools = tools.slice(0, -1);
  return { tools, capabilities };
}

function presentToolBriefly({ tool: { id, description = "", inputSchema }, score }: RankedTool): ToolSuggestion {
  return { callName: id, score, description: shorten(description, LINE), takes: typeOf(inputSchema) };
}

function presentBriefly(matched: MatchedCapability): CapabilitySuggestion {
  const { known } = matched;
  const { author, description, parameters } = known;
  return withoutUndefined({
    callName: formatCallName(known.name),
    score: matched.confidence,
    author,
    description: shorten(description, LINE),
    takes: typeOf(parameters),
    ...presentCall(matched),
  });
}

function presentCall({
  known,
  filled,
  variants,
}: MatchedCapability): Pick<CapabilitySuggestion, "call" | "sources" | "missing" | "variants"> {
  const { args, missing } = filled;
  const sources = Object.fromEntries(Object.entries(filled.sources).filter(([, source]) => source !== "given"));
  return {
    call: { capability: formatCallName(known.name), args },
    ...(Object.keys(sources).length === 0 ? {} : { sources }),
    ...(missing.length === 0 ? {} : { missing }),
    ...(variants > 1 ? { variants } : {}),
  };
}

/** Keeps the declared fields only: a source may know more about a tool than an agent needs to read. */
function presentTool({ tool, score }: RankedTool): ToolSuggestion {
  const { id, description, inputSchema, outputSchema } = tool;
  const shown = withoutUndefined({ id, description, inputSchema, outputSchema });
  return { ...shown, callName: id, score, declaration: declareTool(id, tool) };
}

function presentCapability(matched: MatchedCapability): CapabilitySuggestion {
  const { known, confidence } = matched;
  const { structure: _inThePlan, observed: _inTheScore, successCount, ...shown } = known;
  return {
    ...shown,
    callName: formatCallName(known.name),
    score: confidence,
    successRate: known.usageCount === 0 ? null : successCount / known.usageCount,
    declaration: declareCapability(known.name, { inputSchema: known.parameters, outputSchema: known.outputSchema }),
    ...presentCall(matched),
  };
}

function typeOf(schema: JsonSchema | undefined): string {
  return shorten(toTypeText(schema ?? {}), LONGEST_TYPE);
}

/** The first line, cut to a length. */
function shorten(text: string, length: number): string {
  const [line = ""] = text.split("\n");
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
