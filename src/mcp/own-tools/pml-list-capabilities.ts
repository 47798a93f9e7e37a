import { formatCallName } from "../../catalogue/tool-id.ts";
import { tools } from "../../contract/tools.ts";
import type { Sent } from "../../contract/wire.ts";
import type { CapabilityRecord } from "../../registry/record.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Scope } from "../../registry/scope.ts";
import { withoutUndefined } from "../../base/without-undefined.ts";
import { askerOf, defineTool, type OwnTool } from "./own-tool.ts";
import { capabilityWireName } from "../../catalogue/wire-names.ts";

export interface ListCapabilitiesParts {
  readonly registry: Registry;
  readonly scope: Scope;
}

export function createListCapabilities({ registry, scope }: ListCapabilitiesParts): OwnTool {
  return defineTool({
    ...tools.pml_list_capabilities,
    title: "List capabilities",
    description: "What has been learned so far, with use and parameters. Each can be run by its name.",
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

type Listed = Sent<typeof tools.pml_list_capabilities.answer>["capabilities"][number];

function describe(record: CapabilityRecord): Listed {
  const { id, displayName: name, usageCount, successCount } = record;
  return {
    id,
    name,
    callName: capabilityWireName(formatCallName(name)),
    ...(record.author === undefined ? {} : { author: record.author }),
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
