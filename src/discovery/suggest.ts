import { predictRun, suggestDag } from "../learning/dag-suggester.ts";
import type { EdgeStatistics } from "../learning/edge-store.ts";
import { createProvidesEdges } from "../learning/provides-edge-calculator.ts";
import type { JsonObject, JsonSchema } from "../base/json.ts";
import type { Ranked, Search } from "./search.ts";
import type { KnownCapability } from "./known-capability-store.ts";
import {
  presentSuggestions,
  type PresentedSuggestions,
  type RankedTool,
  type SuggestedTool,
  type SuggestionDetail,
} from "./present-suggestions.ts";
import type { PastRun } from "./recall/fill-arguments.ts";
import { matchCapabilities, type MatchedCapability } from "./recall/match-capabilities.ts";
import type { Outcomes } from "./recall/outcomes.ts";
import { trustedArguments, whyNot } from "./recall/why-not.ts";

interface SuggestionReport {
  readonly suggestions: PresentedSuggestions;
  readonly reason: string;
}

interface Suggestions {
  readonly report: SuggestionReport;
  /** A capability that fits well enough to run at once. */
  readonly runnable: { readonly name: string; readonly args: JsonObject } | undefined;
}

interface SuggestionRequest {
  readonly intent: string;
  /** Arguments to run a capability with, if a run is wanted. */
  readonly given: JsonObject | undefined;
  /** Undefined for the owner of the gateway. */
  readonly principal: string | undefined;
  readonly contextTags: readonly string[];
  readonly detail: SuggestionDetail;
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
  readonly readRuns: (
    principal: string | undefined,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, readonly PastRun[]>>;
  readonly outcomes: Outcomes;
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
    const calibration = await sources.outcomes.calibrationOf(request.principal);
    const matched = await matchCapabilities(foundCapabilities, {
      intent,
      given: given ?? {},
      weights: calibration.weights,
      readCapabilities: (ids) => sources.readCapabilities(request.principal, ids),
      readRuns: (ids) => sources.readRuns(request.principal, ids),
      limit: MAX_CAPABILITIES,
    });
    const [best] = matched;
    if (best !== undefined) sources.outcomes.suggested(request, best);
    const suggestedDag = await suggestPlan(sources, { tools, best, given: given ?? {} });
    const conditions = { intent, given: given ?? {}, runAbove: sources.runAbove, calibration };
    const problem = given === undefined ? "" : whyNot(best, conditions);
    const suggestions = presentSuggestions({ tools: tools.slice(0, MAX_TOOLS), matched, suggestedDag }, request.detail);
    const reason = given === undefined ? "No code, capability or context was given." : problem;
    const runnable =
      best === undefined || given === undefined || problem !== ""
        ? undefined
        : { name: best.known.name, args: trustedArguments(best, calibration) };
    return { report: { suggestions, reason }, runnable };
  };
}

async function describeTools(sources: SuggestSources, ranked: readonly Ranked[]): Promise<RankedTool[]> {
  const ids = ranked.map(({ document }) => document.id);
  const known = await findTools(sources, ids);
  return ranked.flatMap(({ document: { id }, score }) => {
    const tool = known.get(id);
    if (tool === undefined) return [];
    return [{ tool, score }];
  });
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

interface PlanParts {
  readonly tools: readonly RankedTool[];
  readonly best: MatchedCapability | undefined;
  readonly given: JsonObject;
}

/** Plans the steps of the best capability or, where a tool fits better, of tools that feed each other. */
async function suggestPlan(sources: SuggestSources, { tools, best, given }: PlanParts) {
  if (best !== undefined && best.confidence >= (tools[0]?.score ?? 0)) {
    const { structure, dominantPath, parameters, toolsUsed } = best.known;
    const known = await findTools(sources, toolsUsed);
    const context = { parameters, given, score: best.confidence, findSchemas: (id: string) => known.get(id) };
    return predictRun(structure, dominantPath, context);
  }
  const candidates = tools.map(({ tool, score }) => ({ ...tool, score }));
  const edges = await sources.readEdges(candidates.map(({ id }) => id));
  const weights = new Map<string, number>();
  for (const { from, to, weight } of edges) {
    const key = JSON.stringify([from, to]);
    weights.set(key, Math.max(weights.get(key) ?? 0, weight));
  }
  return suggestDag({
    candidates,
    provides: createProvidesEdges(candidates),
    confidenceOf: (from, to) => weights.get(JSON.stringify([from, to])) ?? 0,
    given,
  });
}
