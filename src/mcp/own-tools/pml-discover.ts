import type { z } from "zod";
import { parseRef, recordIdsIn } from "../../catalogue/tool-id.ts";
import { tools } from "../../contract/tools.ts";
import type { Scope } from "../../registry/scope.ts";
import type { Discovery, Viewer } from "../../discovery/discovery.ts";
import type { SearchAnswer, SearchDocument } from "../../discovery/search.ts";
import { defineTool, type OwnTool } from "./own-tool.ts";
import type { Surface } from "../../catalogue/surface.ts";
import { type Found, fitBudget, presentFound } from "./present-found.ts";

export interface DiscoverParts {
  readonly surface: () => Surface;
  readonly discovery: Pick<Discovery, "search" | "describeCapabilities">;
  readonly scope: Scope;
}

export type DiscoverInput = z.output<typeof tools.pml_discover.input>;

export function createDiscover({ surface, discovery, scope }: DiscoverParts): OwnTool {
  return defineTool({
    ...tools.pml_discover,
    title: "Find tools and capabilities",
    description:
      "Find tools and learned capabilities for a task among everything behind this gateway, listed or not. Call either by its callName. Each result says why it was found.",
    annotations: { readOnlyHint: true, openWorldHint: false },
    meta: { "anthropic/alwaysLoad": true },
    async run(wanted, { principal }) {
      const { filter, limit, offset } = wanted;
      const answer = await discovery.search({ scope, principal }, wanted.intent, {
        accept: createFilter(filter),
        contextTags: wanted.context_tags,
      });
      const callable = answer.ranked.filter(
        ({ document, score }) => score >= filter.minScore && isCallable(document, surface()),
      );
      const page = callable.slice(offset, offset + limit);
      const found = await describePage({ page, surface, discovery, viewer: { scope, principal } });
      const results = fitBudget(
        found.map((each) => presentFound(each, wanted)),
        wanted,
      );
      const next = offset + results.length;
      const meta = {
        searched: answer.searched,
        matched: callable.length,
        offset,
        limit,
        next_offset: next < callable.length ? next : null,
        ranking: answer.tier,
      };
      return { kind: "json", value: { results, meta } };
    },
  });
}

function createFilter({ type, server, namespace }: DiscoverInput["filter"]): (document: SearchDocument) => boolean {
  return (document) =>
    (type === "all" || type === document.kind) &&
    (server === undefined || (document.kind === "tool" && document.server === server)) &&
    (namespace === undefined || document.server === namespace);
}

/** Filters out tools whose server went away after it was indexed. */
function isCallable({ kind, id }: SearchDocument, surface: Surface): boolean {
  return kind !== "tool" || surface.findTool(id) !== undefined;
}

interface RankedPage extends Omit<DiscoverParts, "scope"> {
  readonly viewer: Viewer;
  readonly page: SearchAnswer["ranked"];
}

async function describePage({ page, surface, discovery, viewer }: RankedPage): Promise<Found[]> {
  const details = await discovery.describeCapabilities(viewer, recordIdsIn(page.map(({ document }) => document.id)));
  return page.flatMap((ranked): Found[] => {
    const ref = parseRef(ranked.document.id);
    if (ref.kind === "tool") {
      const offered = surface().findTool(ranked.document.id);
      return offered === undefined ? [] : [{ kind: "tool", ranked, offered }];
    }
    const capability = details.get(ref.recordId);
    return capability === undefined ? [] : [{ kind: "capability", ranked, capability }];
  });
}
