import { tools } from "../../../src/contract/tools.ts";
import type { Registry } from "../../../src/registry/registry.ts";
import type { Scope } from "../../../src/registry/scope.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { ToolModule } from "../../../src/mcp/servers/tool-module.ts";
import { withoutUndefined } from "../../../src/base/without-undefined.ts";
import { describeBriefly } from "./describe-record.ts";
import { changed, json } from "./dns-parts.ts";

export interface LearnParts {
  readonly registry: Registry;
  readonly scope: Scope;
  /** Tools of other parts of PML that belong to this module. */
  readonly more?: readonly OwnTool[];
}

/** Learning as tools: saves, rates, archives and restores capabilities. */
export class LearnModule extends ToolModule {
  constructor(parts: LearnParts) {
    super("learn", [createSave(parts), createFeedback(parts), ...createKeeping(parts), ...(parts.more ?? [])]);
  }
}

function createSave({ registry, scope }: LearnParts): OwnTool {
  return defineTool({
    ...tools["learn:save"],
    title: "Save a capability",
    description:
      "Keeps a program under a name without running it. It can be called at once and is listed after its first success.",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    async run({ on_conflict: onConflict, version_tag: tag, change_summary: summary, ...rest }, context) {
      const request = withoutUndefined({ ...rest, onConflict, versionTag: tag, changeSummary: summary });
      return json(changed(await registry.save(askerOf(scope, context), request)));
    },
  });
}

function createFeedback({ registry, scope }: LearnParts): OwnTool {
  return defineTool({
    ...tools["learn:feedback"],
    title: "Say how a capability did",
    description: "Counts a use that PML did not see itself, as a success or a failure.",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    async run({ name, success, latency_ms: latencyMs }, context) {
      const request = withoutUndefined({ name, success, latencyMs });
      const record = await registry.feedback(askerOf(scope, context), request);
      const { successCount, totalLatencyMs } = record;
      return json({ ...describeBriefly(record), success_count: successCount, total_latency_ms: totalLatencyMs });
    },
  });
}

function createKeeping({ registry, scope }: LearnParts): OwnTool[] {
  const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  return [
    defineTool({
      ...tools["learn:archive"],
      title: "Archive a capability",
      description: "Takes a capability out of lists and out of use. learn:restore brings it back as it was.",
      annotations,
      run: async ({ name }, context) => json(changed(await registry.archive(askerOf(scope, context), name))),
    }),
    defineTool({
      ...tools["learn:delete"],
      title: "Delete a capability",
      description: "Removes a capability. Its name stays reserved for a while, and learn:restore works that long.",
      annotations: { ...annotations, destructiveHint: true },
      run: async ({ name }, context) => json(changed(await registry.remove(askerOf(scope, context), name))),
    }),
    defineTool({
      ...tools["learn:restore"],
      title: "Restore a capability",
      description: "Brings back a capability that was archived or deleted.",
      annotations,
      run: async ({ name }, context) => json(changed(await registry.restore(askerOf(scope, context), name))),
    }),
  ];
}
