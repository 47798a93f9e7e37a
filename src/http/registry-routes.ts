import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { App } from "../app/app.ts";
import { publishedCapability } from "../contract/published.ts";
import { toPublished } from "../registry/published.ts";
import type { CapabilityRecord } from "../registry/record.ts";
import type { Asker } from "../registry/scope.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import { withoutUndefined } from "../base/without-undefined.ts";
import { readBody, readQuery, sendNotFound } from "./send-answer.ts";
import { answer, type Route, sendJson } from "./http-server.ts";

/** Nobody in particular: sees what is public. */
export const NOBODY: Asker = {
  scope: { org: "", project: "" },
  principal: "00000000-0000-0000-0000-000000000000",
};

const PAGE = 100;
const adoption = z.strictObject({ published: publishedCapability, name: z.string().min(1).optional() });

type Parts = Pick<App, "registry" | "adopt">;

/** Capabilities that are public, for gateways and people elsewhere, and what they have to offer for this one. */
export function createRegistryRoutes({ registry, adopt }: Parts): Route[] {
  return [
    {
      method: "GET",
      path: "/registry/capabilities",
      access: "public",
      async handle(request, response) {
        try {
          sendJson(response, 200, await listPublic(registry, request));
        } catch (error) {
          if (!(error instanceof PmlError)) throw error;
          sendJson(response, 400, { ok: false, error: toErrorReport(error) });
        }
      },
    },
    {
      method: "GET",
      path: "/registry/capabilities/:reference",
      access: "public",
      async handle(_request, response, { reference = "" }) {
        const published = await findPublished(registry, reference);
        if (published === undefined) sendNotFound(response, reference);
        else sendJson(response, 200, published);
      },
    },
    {
      method: "POST",
      path: "/api/published",
      handle: (request, response) =>
        answer(response, async () => {
          const { published, name } = await readBody(request, adoption);
          const { record, warnings } = await adopt(published, name);
          return { display_name: record.displayName, fqdn: record.fqdn, forked_from: record.forkedFrom, warnings };
        }),
    },
  ];
}

async function listPublic(registry: App["registry"], request: IncomingMessage): Promise<unknown> {
  const filter = withoutUndefined({
    namespace: readQuery(request, "namespace"),
    text: readQuery(request, "text"),
    cursor: readQuery(request, "cursor"),
  });
  const page = await registry.query(NOBODY, { ...filter, recordType: "capability", namedOnly: true, limit: PAGE });
  return { capabilities: page.records.map(describe), next_cursor: page.nextCursor ?? null };
}

function describe({ fqdn, displayName, description, version, versionTag, tags, toolsUsed }: CapabilityRecord): unknown {
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

/** What may not be seen is not there, and neither is what is no capability. */
async function findPublished(registry: App["registry"], reference: string): Promise<unknown> {
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
