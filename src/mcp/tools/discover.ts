import { z } from "zod";
import type { CreateRanker, Ranked, Ranker } from "../../discovery/ranker.ts";
import { defineTool, type OwnTool } from "../own-tool.ts";
import type { OfferedTool, Surface } from "../surface.ts";

export interface DiscoverParts {
  readonly surface: () => Surface;
  readonly createRanker: CreateRanker;
}

const MOST_RESULTS = 50;

const input = z.strictObject({
  intent: z.string().min(1).describe("What you want to do, in plain words."),
  filter: z
    .strictObject({
      type: z.enum(["tool", "capability", "skill", "all"]).default("all"),
      minScore: z.number().min(0).max(1).default(0).describe("Leave out results below this score."),
      server: z.string().optional().describe("Only tools of this server."),
      namespace: z.string().optional().describe("Only names that begin with this, up to the colon."),
    })
    .prefault({}),
  limit: z.number().int().min(1).max(MOST_RESULTS).default(10),
  offset: z.number().int().min(0).default(0),
});

type Filter = z.output<typeof input>["filter"];

export function createDiscover({ surface, createRanker }: DiscoverParts): OwnTool {
  let index: { readonly surface: Surface; readonly ranker: Ranker } | undefined;
  const currentRanker = (): Ranker => {
    const current = surface();
    if (index?.surface !== current) index = { surface: current, ranker: createRanker(current.tools.map(toDocument)) };
    return index.ranker;
  };
  return defineTool({
    name: "pml_discover",
    title: "Find tools",
    description:
      "Find the tools for a task among everything behind this gateway, also those that are not listed. Each result has a callName, under which it can be called, and its input schema.",
    input,
    annotations: { readOnlyHint: true, openWorldHint: false },
    meta: { "anthropic/alwaysLoad": true },
    run({ intent, filter, limit, offset }) {
      const found = currentRanker()
        .rank(intent)
        .flatMap((ranked) => {
          const offered = surface().findTool(ranked.id);
          return offered !== undefined && passes(offered, ranked, filter) ? [{ offered, ranked }] : [];
        });
      const results = found.slice(offset, offset + limit).map(toResult);
      const next = offset + results.length;
      const meta = {
        searched: surface().tools.length,
        matched: found.length,
        offset,
        limit,
        next_offset: next < found.length ? next : null,
        ranking: "lexical",
      };
      return { kind: "json", value: { results, meta } };
    },
  });
}

function toDocument({ canonical, tool }: OfferedTool): Parameters<CreateRanker>[0][number] {
  return {
    id: canonical,
    name: `${canonical} ${tool.title ?? ""}`,
    description: tool.description ?? "",
    arguments: Object.keys(tool.inputSchema.properties ?? {}),
  };
}

function passes({ server }: OfferedTool, { score }: Ranked, filter: Filter): boolean {
  return (
    (filter.type === "all" || filter.type === "tool") &&
    score >= filter.minScore &&
    (filter.server ?? server) === server &&
    (filter.namespace ?? server) === server
  );
}

function toResult({ offered, ranked }: { offered: OfferedTool; ranked: Ranked }): Record<string, unknown> {
  const { server, canonical, wireName, tool } = offered;
  return {
    type: "tool",
    id: canonical,
    name: tool.name,
    server,
    callName: wireName,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: tool.description ?? "",
    score: ranked.score,
    why: ranked.why,
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
  };
}
