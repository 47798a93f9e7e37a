import { expect, test } from "vitest";
import type { KnownCapability } from "../known-capability-store.ts";
import type { SearchAnswer } from "../search.ts";
import type { Recollection } from "./capability-memory.ts";
import { fitWeights } from "./confidence.ts";
import { matchCapabilities, type MatchedCapability } from "./match-capabilities.ts";

function recollect(id: string, score: number, group = `cap:${id}`): Recollection {
  return { id: `cap:${id}`, group, score, nearness: Math.min(1, score / 2), likelihood: -1, support: 2 };
}

function know(id: string): KnownCapability {
  return {
    id,
    name: `util:${id}`,
    author: undefined,
    description: "",
    parameters: {},
    toolsUsed: [],
    usageCount: 2,
    successCount: 2,
    observed: { uses: 2, successes: 2 },
    outputSchema: undefined,
    structure: { nodes: [], edges: [] },
    dominantPath: undefined,
  };
}

function match(recollections: readonly Recollection[]): Promise<MatchedCapability[]> {
  const ranked = recollections.map(({ id }) => ({
    document: { id, kind: "capability", server: "", name: id, description: "", parameters: [], tags: [] } as const,
    score: 0.5,
    why: {},
    warnings: [],
  }));
  const answer: SearchAnswer = {
    ranked,
    searched: ranked.length,
    tier: "lite",
    recollections: new Map(recollections.map((each) => [each.id, each])),
  };
  return matchCapabilities(answer, {
    intent: "do it",
    given: {},
    weights: fitWeights([]),
    readCapabilities: (ids) => Promise.resolve(ids.map(know)),
    readRuns: () => Promise.resolve(new Map()),
    limit: 5,
  });
}

test("shows the best of a group with the number of its variants; they are no rivals and support each other", async () => {
  const alone = await match([recollect("a", 1.9, "g"), recollect("c", 0.8)]);
  const together = await match([recollect("a", 1.9, "g"), recollect("b", 1.88, "g"), recollect("c", 0.8)]);
  expect(together.map(({ known, variants }) => [known.name, variants])).toEqual([
    ["util:a", 2],
    ["util:c", 1],
  ]);
  expect(together[0]?.confidence).toBeGreaterThanOrEqual(alone[0]?.confidence ?? 1);
  const rivals = await match([recollect("a", 1.9), recollect("b", 1.88), recollect("c", 0.8)]);
  expect(rivals).toHaveLength(3);
  expect(rivals[0]?.confidence).toBeLessThan(alone[0]?.confidence ?? 0);
});

test("the lead is over the next that does something else, wherever it is ranked", async () => {
  const [, second] = await match([recollect("a", 1.9), recollect("b", 1.5)]);
  const [first] = await match([recollect("b", 1.5)]);
  expect(second?.confidence).toBeLessThan(first?.confidence ?? 0);
});
