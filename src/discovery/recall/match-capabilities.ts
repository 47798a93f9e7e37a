import { formatCapabilityId, recordIdsIn } from "../../catalogue/tool-id.ts";
import type { JsonObject } from "../../base/json.ts";
import type { KnownCapability } from "../known-capability-store.ts";
import type { SearchAnswer } from "../search.ts";
import type { Recollection } from "./capability-memory.ts";
import { leadOver, probability, toFeatures } from "./confidence.ts";
import { fillArguments, type FilledArguments, type PastRun } from "./fill-arguments.ts";

/** A capability that may be meant, with its arguments as far as they are known. */
export interface MatchedCapability {
  readonly known: KnownCapability;
  readonly group: string;
  /** Capabilities that do the same, this one included. */
  readonly variants: number;
  readonly filled: FilledArguments;
  readonly features: readonly number[];
  /** Probability that it is meant. */
  readonly confidence: number;
}

export interface MatchRequest {
  readonly intent: string;
  readonly given: JsonObject;
  readonly weights: readonly number[];
  readonly readCapabilities: (ids: readonly string[]) => Promise<readonly KnownCapability[]>;
  readonly readRuns: (ids: readonly string[]) => Promise<ReadonlyMap<string, readonly PastRun[]>>;
  readonly limit: number;
}

/** Matches an intent with the best capability of each group. Those of one group are no rivals: whichever runs does the same. */
export async function matchCapabilities(
  { ranked, recollections }: SearchAnswer,
  { intent, given, weights, readCapabilities, readRuns, limit }: MatchRequest,
): Promise<MatchedCapability[]> {
  const found = ranked.flatMap(({ document }) => recollections.get(document.id) ?? []);
  const groups = [...Map.groupBy(found, ({ group }) => group).values()];
  const shown = groups.slice(0, limit);
  const ids = recordIdsIn(shown.flatMap(([best]) => best?.id ?? []));
  const known = await readCapabilities(ids);
  const runs = await readRuns(ids);
  const byId = new Map(known.map((each) => [formatCapabilityId(each.id), each]));
  return shown.flatMap((group, place): MatchedCapability[] => {
    const [best] = group;
    const capability = byId.get(best?.id ?? "");
    if (best === undefined || capability === undefined) return [];
    const { parameters } = capability;
    const filled = fillArguments({ intent, parameters, given, runs: runs.get(capability.id) ?? [] });
    const rivals = groups.filter((_, other) => other !== place).map(topScore);
    const next = rivals.length === 0 ? undefined : Math.max(...rivals);
    const { nearness: similarity, likelihood } = best;
    const features = toFeatures({
      similarity,
      lead: leadOver(best.score, next),
      likelihood,
      consumed: filled.consumed,
      support: group.reduce((sum, each) => sum + each.support, 0),
    });
    const confidence = Math.round(1000 * probability(weights, features)) / 1000;
    return [{ known: capability, group: best.group, variants: group.length, filled, features, confidence }];
  });
}

function topScore(group: readonly Recollection[]): number {
  return Math.max(...group.map(({ score }) => score));
}
