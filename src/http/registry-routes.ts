import type { ServerResponse } from "node:http";
import type { z } from "zod";
import type { App } from "../app/app.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import type { Returned } from "../contract/route.ts";
import { routes } from "../contract/routes.ts";
import { type Published, toPublished } from "../registry/published.ts";
import type { CapabilityRecord } from "../registry/record.ts";
import type { Asker } from "../registry/scope.ts";
import { type Route, sendDocument, sendJson } from "./http-server.ts";
import { parse, readQuery, serveData, serveRaw } from "./serve-route.ts";

/** The asker who sees public records only. */
export const NOBODY: Asker = {
  scope: { org: "", project: "" },
  principal: "00000000-0000-0000-0000-000000000000",
};

const PAGE = 100;

type Parts = Pick<App, "registry" | "adopt">;

/** Public capabilities for other gateways and people, and copies of theirs for this one. */
export function createRegistryRoutes({ registry, adopt }: Parts): Route[] {
  return [
    serveRaw(routes.listPublished, async (request, response) => {
      try {
        const query = parse(routes.listPublished.query, readQuery(request));
        sendDocument(response, routes.listPublished, await listPublic(registry, query));
      } catch (error) {
        if (!(error instanceof PmlError)) throw error;
        sendJson(response, 400, { ok: false, error: toErrorReport(error) });
      }
    }),
    serveRaw(routes.getPublished, async (_request, response, { reference = "" }) => {
      const published = await findPublished(registry, reference);
      if (published === undefined) sendNotFound(response, reference);
      else sendDocument(response, routes.getPublished, published);
    }),
    serveData(routes.adoptPublished, async ({ body: { published, name } }) => {
      const { record, warnings } = await adopt(published, name);
      return { display_name: record.displayName, fqdn: record.fqdn, forked_from: record.forkedFrom, warnings };
    }),
  ];
}

/** Answers the same whether a record is hidden or was never there. */
export function sendNotFound(response: ServerResponse, name: string): void {
  const error = new PmlError("capability_not_found", `Nothing public is called "${name}"`, {
    hint: "Public capabilities are listed at /registry/capabilities",
  });
  sendJson(response, 404, { ok: false, error: toErrorReport(error) });
}

type List = Returned<typeof routes.listPublished>;

async function listPublic(
  registry: App["registry"],
  query: z.output<typeof routes.listPublished.query>,
): Promise<List> {
  const filter = withoutUndefined(query);
  const page = await registry.query(NOBODY, { ...filter, recordType: "capability", namedOnly: true, limit: PAGE });
  return { capabilities: page.records.map(describe), next_cursor: page.nextCursor ?? null };
}

function describe(record: CapabilityRecord): List["capabilities"][number] {
  const { fqdn, displayName, description, version, versionTag, tags, toolsUsed } = record;
  return {
    fqdn,
    display_name: displayName,
    description: description ?? null,
    version,
    version_tag: versionTag ?? null,
    tags,
    tools_used: toolsUsed,
    path: `/registry/capabilities/${encodeURIComponent(fqdn)}`,
  };
}

/** Returns undefined for a record that is hidden, absent, or no capability. */
async function findPublished(registry: App["registry"], reference: string): Promise<Published | undefined> {
  try {
    const record = await registry.whois(NOBODY, reference);
    const versions = await registry.history(NOBODY, record.fqdn);
    const version = versions.find((each) => each.version === record.version);
    return version && toPublished(record, version);
  } catch (error) {
    if (error instanceof PmlError) return undefined;
    throw error;
  }
}
