import { formatCallName } from "../../catalogue/tool-id.ts";
import { z } from "zod";
import type { CapabilityRecord } from "../../registry/record.ts";
import { RECORD_SORTS, type Registry } from "../../registry/registry.ts";
import type { Scope } from "../../registry/scope.ts";
import { withoutUndefined } from "../../base/without-undefined.ts";
import { askerOf, defineTool, type OwnTool } from "./own-tool.ts";
import { capabilityWireName } from "../../catalogue/wire-names.ts";

export interface ListCapabilitiesParts {
  readonly registry: Registry;
  readonly scope: Scope;
}

const MOST_LISTED = 200;

const input = z.strictObject({
  namespace: z.string().optional(),
  named_only: z.boolean().default(false),
  pattern: z.string().optional().describe("Of names: fs:read_*."),
  sort_by: z.enum(RECORD_SORTS).default("name"),
  limit: z.number().int().min(1).max(MOST_LISTED).default(20),
  offset: z.number().int().min(0).default(0),
  cursor: z.string().optional().describe("next_cursor of the page before."),
});

export function createListCapabilities({ registry, scope }: ListCapabilitiesParts): OwnTool {
  return defineTool({
    name: "pml_list_capabilities",
    title: "List capabilities",
    description: "What has been learned so far, with use and parameters. Each can be run by its name.",
    input,
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ named_only: namedOnly, sort_by: sortBy, ...rest }, context) {
      const query = withoutUndefined({ ...rest, namedOnly, sortBy, recordType: "capability" as const });
      const { records, nextCursor, total } = await registry.list(askerOf(scope, context), query);
      const value = {
        capabilities: records.map(describe),
        ...(total === undefined ? {} : { total }),
        next_cursor: nextCursor ?? null,
      };
      return { kind: "json", value };
    },
  });
}

function describe(record: CapabilityRecord): Record<string, unknown> {
  const { id, displayName: name, usageCount, successCount } = record;
  return {
    id,
    name,
    callName: capabilityWireName(formatCallName(name)),
    description: record.description ?? "",
    namespace: record.namespace,
    version: record.version,
    usage_count: usageCount,
    success_rate: usageCount === 0 ? 0 : successCount / usageCount,
    parameters: record.parameters,
    tags: record.tags,
    created_at: record.createdAt.toISOString(),
  };
}
