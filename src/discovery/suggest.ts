import type { CapabilitySummary } from "../capabilities/capability-store.ts";
import type { JsonObject, JsonSchema } from "../json.ts";
import type { Search } from "./search.ts";
import { splitWords } from "./words.ts";

export interface SuggestedTool {
  readonly id: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

interface SuggestionReport {
  readonly suggestions: {
    readonly tools: readonly (SuggestedTool & { readonly score: number })[];
    readonly capabilities: readonly (Omit<CapabilitySummary, "intents"> & {
      readonly callName: string;
      readonly score: number;
    })[];
  };
  /** How sure it is that the best capability is meant. */
  readonly confidence: number;
  readonly reason: string;
}

interface Suggestions {
  readonly report: SuggestionReport;
  /** A capability that fits well enough to be run at once, with the arguments given. */
  readonly runnable: string | undefined;
}

/** What fits an intent; `given` are arguments to run it with, if that is what is wanted. */
export type Suggest = (intent: string, given: JsonObject | undefined) => Promise<Suggestions>;

const MOST_TOOLS = 8;
const MOST_CAPABILITIES = 5;
/** Below this, running something would be a guess. */
const SURE_ENOUGH = 0.75;

export function createSuggest(sources: {
  readonly findTool: (id: string) => SuggestedTool | undefined;
  readonly search: Search;
  readonly capabilities: () => Promise<readonly CapabilitySummary[]>;
}): Suggest {
  return async (intent, given) => {
    const capabilities = await sources.capabilities();
    const { ranked: found } = await sources.search(intent, {
      accept: ({ kind }) => kind === "tool",
      limit: MOST_TOOLS,
    });
    const tools = found.flatMap(({ document, score }) => {
      const tool = sources.findTool(document.id);
      return tool === undefined ? [] : [{ ...tool, score }];
    });
    const ranked = capabilities
      .map((each) => ({ each, score: Math.max(0, ...each.intents.map((known) => similarity(intent, known))) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score || b.each.usageCount - a.each.usageCount)
      .slice(0, MOST_CAPABILITIES);
    const [best] = ranked;
    const confidence = best?.score ?? 0;
    const problem = given === undefined ? "" : whyNot(best, given);
    const report: SuggestionReport = {
      suggestions: {
        tools,
        capabilities: ranked.map(({ each: { intents: _kept, ...each }, score }) => ({
          ...each,
          callName: `cap:${each.name}`,
          score,
        })),
      },
      confidence,
      reason: given === undefined ? "No code, capability or context was given." : problem,
    };
    return { report, runnable: given !== undefined && problem === "" ? best?.each.name : undefined };
  };
}

function whyNot(
  best: { readonly each: CapabilitySummary; readonly score: number } | undefined,
  given: JsonObject,
): string {
  if (best === undefined) return "No capability has anything to do with this intent.";
  const { each, score } = best;
  if (score < SURE_ENOUGH) return `The best capability, ${each.name}, fits only to ${score} (needed: ${SURE_ENOUGH}).`;
  const required = (each.parameters["required"] ?? []) as readonly string[];
  const missing = required.filter((name) => !Object.hasOwn(given, name));
  return missing.length === 0 ? "" : `${each.name} fits, but needs ${missing.join(", ")}.`;
}

/** Words in common, of all words of either. */
function similarity(a: string, b: string): number {
  const [ofA, ofB] = [new Set(splitWords(a)), new Set(splitWords(b))];
  const shared = [...ofA].filter((word) => ofB.has(word)).length;
  const all = ofA.size + ofB.size - shared;
  return all === 0 ? 0 : Math.round((shared / all) * 1000) / 1000;
}
