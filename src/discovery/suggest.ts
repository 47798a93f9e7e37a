import { formatCallName, formatCapabilityId, recordIdsIn } from "../catalogue/tool-id.ts";
import { predictRun, suggestDag, type SuggestedDag } from "../learning/dag-suggester.ts";
import { declareCapability, declareTool } from "../learning/declaration.ts";
import type { EdgeStatistics } from "../learning/edge-store.ts";
import { createProvidesEdges } from "../learning/provides-edge-calculator.ts";
import type { JsonObject, JsonSchema } from "../base/json.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import { intentConfidence } from "./intent-confidence.ts";
import type { Ranked, Search, SearchAnswer } from "./search.ts";
import type { KnownCapability } from "./known-capability-store.ts";
import { smoothedRate } from "./track-record.ts";

interface SuggestedTool {
  readonly id: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

type ToolSuggestion = SuggestedTool & {
  readonly callName: string;
  readonly score: number;
  /** TypeScript declaration, as programs call it. */
  readonly declaration: string;
};

type CapabilitySuggestion = Omit<KnownCapability, "structure" | "successCount" | "observed"> & {
  readonly callName: string;
  readonly score: number;
  readonly declaration: string;
  readonly successRate: number | null;
  /** Capabilities that do the same, this one included; left out where it is the only one. */
  readonly variants?: number;
};

interface SuggestionReport {
  readonly suggestions: {
    readonly tools: readonly ToolSuggestion[];
    readonly capabilities: readonly CapabilitySuggestion[];
    /** A plan of a few steps, if one was found. */
    readonly suggestedDag?: SuggestedDag;
    /** Probability that the best capability is the intended one. */
    readonly confidence: number;
  };
  readonly reason: string;
}

interface Suggestions {
  readonly report: SuggestionReport;
  /** Name of a capability that fits well enough to run at once with the given arguments. */
  readonly runnable: string | undefined;
}

interface SuggestionRequest {
  readonly intent: string;
  /** Arguments to run a capability with, if a run is wanted. */
  readonly given: JsonObject | undefined;
  /** Undefined for the owner of the gateway. */
  readonly principal: string | undefined;
  readonly contextTags: readonly string[];
}

/** Suggests tools, capabilities and a plan for an intent. */
export type Suggest = (request: SuggestionRequest) => Promise<Suggestions>;

export interface SuggestSources {
  readonly searchFor: (principal: string | undefined) => Search;
  readonly findTool: (id: string) => SuggestedTool | undefined;
  readonly readCapabilities: (
    principal: string | undefined,
    ids: readonly string[],
  ) => Promise<readonly KnownCapability[]>;
  /** Inferred result schemas of tools that declare none. */
  readonly readOutputSchemas: (ids: readonly string[]) => Promise<ReadonlyMap<string, JsonSchema>>;
  readonly readEdges: (ids: readonly string[]) => Promise<readonly EdgeStatistics[]>;
  /** Minimum confidence to run a capability unasked. */
  readonly runAbove: number;
}

const MAX_TOOLS = 8;
const MAX_CAPABILITIES = 5;
/** Candidates considered for the plan and as rivals of the best. */
const MAX_CANDIDATES = 30;
/** Minimum success rate to run a capability unasked. */
const POOR_RATE = 0.5;

export function createSuggest(sources: SuggestSources): Suggest {
  return async (request) => {
    const { intent, given } = request;
    const search = sources.searchFor(request.principal);
    const options = { contextTags: request.contextTags, limit: MAX_CANDIDATES };
    const [foundTools, foundCapabilities] = await Promise.all([
      search(intent, { ...options, accept: ({ kind }) => kind === "tool" }),
      search(intent, { ...options, accept: ({ kind }) => kind === "capability" }),
    ]);
    const tools = await describeTools(sources, foundTools.ranked);
    const capabilities = await rankCapabilities(sources, request.principal, foundCapabilities);
    const [best] = capabilities;
    const suggestedDag = await suggestPlan(sources, { tools, best, given: given ?? {} });
    const problem = given === undefined ? "" : whyNot(best, given, sources.runAbove);
    const report: SuggestionReport = {
      suggestions: {
        tools: tools.slice(0, MAX_TOOLS),
        capabilities: capabilities.slice(0, MAX_CAPABILITIES).map(presentCapability),
        ...(suggestedDag === undefined ? {} : { suggestedDag }),
        confidence: best?.score ?? 0,
      },
      reason: given === undefined ? "No code, capability or context was given." : problem,
    };
    return { report, runnable: given !== undefined && problem === "" ? best?.known.name : undefined };
  };
}

async function describeTools(sources: SuggestSources, ranked: readonly Ranked[]): Promise<ToolSuggestion[]> {
  const ids = ranked.map(({ document }) => document.id);
  const known = await findTools(sources, ids);
  return ranked.flatMap(({ document: { id }, score }) => {
    const tool = known.get(id);
    if (tool === undefined) return [];
    return [{ ...toSuggested(tool), callName: id, score, declaration: declareTool(id, tool) }];
  });
}

/** Keeps the declared fields only: a source may know more about a tool than an agent needs to read. */
function toSuggested({ id, description, inputSchema, outputSchema }: SuggestedTool): SuggestedTool {
  return withoutUndefined({ id, description, inputSchema, outputSchema });
}

/** Finds tools with the schemas of their results: stated by their servers, or learned. */
async function findTools(sources: SuggestSources, ids: readonly string[]): Promise<ReadonlyMap<string, SuggestedTool>> {
  const found = ids.flatMap((id) => sources.findTool(id) ?? []);
  const silent = found.filter(({ outputSchema }) => outputSchema === undefined).map(({ id }) => id);
  const learned = await sources.readOutputSchemas(silent);
  return new Map(
    found.map((tool) => {
      const outputSchema = tool.outputSchema ?? learned.get(tool.id);
      return [tool.id, { ...tool, ...(outputSchema === undefined ? {} : { outputSchema }) }];
    }),
  );
}

interface RankedCapability {
  readonly known: KnownCapability;
  readonly score: number;
  readonly variants: number;
}

/** Keeps the best capability of each group. Capabilities of one group are no rivals: whichever runs does the same. */
async function rankCapabilities(
  sources: SuggestSources,
  principal: string | undefined,
  { ranked, recollections }: SearchAnswer,
): Promise<RankedCapability[]> {
  const found = ranked.flatMap(({ document }) => recollections.get(document.id) ?? []);
  const known = await sources.readCapabilities(principal, recordIdsIn(found.map(({ id }) => id)));
  const byId = new Map(known.map((each) => [formatCapabilityId(each.id), each]));
  const groups = [...Map.groupBy(found, ({ group }) => group).values()];
  const nearest = groups.map((group) => Math.max(...group.map(({ nearness }) => nearness)));
  return groups.flatMap((group, place) => {
    const best = byId.get(group[0]?.id ?? "");
    if (best === undefined) return [];
    const nextNearness = Math.max(0, ...nearest.filter((_, other) => other !== place));
    const signals = { nearness: nearest[place] as number, nextNearness, pool: groups.length };
    return [{ known: best, score: intentConfidence(signals), variants: group.length }];
  });
}

function presentCapability({ known, score, variants }: RankedCapability): CapabilitySuggestion {
  const { structure: _inThePlan, observed: _inTheScore, successCount, ...shown } = known;
  return {
    ...shown,
    callName: formatCallName(known.name),
    score,
    successRate: known.usageCount === 0 ? null : successCount / known.usageCount,
    declaration: declareCapability(known.name, { inputSchema: known.parameters, outputSchema: known.outputSchema }),
    ...(variants > 1 ? { variants } : {}),
  };
}

interface PlanParts {
  readonly tools: readonly ToolSuggestion[];
  readonly best: RankedCapability | undefined;
  readonly given: JsonObject;
}

/** Plans the steps of the best capability or, where a tool fits better, of tools that feed each other. */
async function suggestPlan(sources: SuggestSources, { tools, best, given }: PlanParts) {
  if (best !== undefined && best.score >= (tools[0]?.score ?? 0)) {
    const { structure, dominantPath, parameters, toolsUsed } = best.known;
    const known = await findTools(sources, toolsUsed);
    const context = { parameters, given, score: best.score, findSchemas: (id: string) => known.get(id) };
    return predictRun(structure, dominantPath, context);
  }
  const edges = await sources.readEdges(tools.map(({ id }) => id));
  const weights = new Map<string, number>();
  for (const { from, to, weight } of edges) {
    const key = JSON.stringify([from, to]);
    weights.set(key, Math.max(weights.get(key) ?? 0, weight));
  }
  return suggestDag({
    candidates: tools,
    provides: createProvidesEdges(tools),
    confidenceOf: (from, to) => weights.get(JSON.stringify([from, to])) ?? 0,
    given,
  });
}

function whyNot(best: RankedCapability | undefined, given: JsonObject, runAbove: number): string {
  if (best === undefined) return "No capability is related to this intent.";
  const { known, score } = best;
  const { name, observed } = known;
  if (score < runAbove)
    return `No capability is surely meant: the best, ${name}, with a confidence of ${score} (needed: ${runAbove}).`;
  if (smoothedRate(observed) < POOR_RATE)
    return `${name} fits, but only ${observed.successes} of its ${observed.uses} runs succeeded.`;
  const required = (known.parameters["required"] ?? []) as readonly string[];
  const missing = required.filter((each) => !Object.hasOwn(given, each));
  return missing.length === 0 ? "" : `${name} fits, but needs ${missing.join(", ")}.`;
}
