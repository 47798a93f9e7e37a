import { tools } from "../../../src/contract/tools.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { ToolModule } from "../../../src/mcp/servers/tool-module.ts";
import { withoutUndefined } from "../../../src/base/without-undefined.ts";
import { describeBriefly, describeRecord } from "./describe-record.ts";
import { createHistory } from "./dns-history.ts";
import { changed, type DnsParts, json, reads, writes } from "./dns-parts.ts";
import { createQuery } from "./dns-query.ts";
import { createTag } from "./dns-tag.ts";

export type { DnsParts } from "./dns-parts.ts";

/** The name that `pml rename` gives itself as a client: a person types it. The history of renames tells the two apart. */
const COMMAND_LINE = "pml-cli";

/** The registry as tools: looks names up, and changes them. */
export class DnsModule extends ToolModule {
  constructor(parts: DnsParts) {
    super("dns", [...createReaders(parts), ...createWriters(parts)]);
  }
}

function createReaders(parts: DnsParts): OwnTool[] {
  const { registry, scope, facts } = parts;
  return [
    defineTool({
      ...tools["dns:lookup"],
      title: "Look up a name",
      description: "What a name stands for: FQDN, version, description, use.",
      annotations: reads,
      async run({ name }, context) {
        const record = await registry.lookup(askerOf(scope, context), name);
        return json({
          ...describeBriefly(record),
          parameters_schema: record.parameters,
          tools_used: record.toolsUsed,
          ...(await facts.describe(record)),
          ...(record.warning === undefined ? {} : { warnings: [record.warning] }),
        });
      },
    }),
    createQuery(parts),
    defineTool({
      ...tools["dns:whois"],
      title: "Everything about a record",
      description: "The complete record behind an FQDN or name: creator, provenance, aliases, statistics, code.",
      annotations: reads,
      async run({ fqdn }, context) {
        const record = await registry.whois(askerOf(scope, context), fqdn);
        const permitted = await facts.permissionsOf(record);
        const permissions = permitted.map(({ tool, effect, allowedBy }) => ({ tool, effect, allowed_by: allowedBy }));
        return json({ ...describeRecord(record), permission_set: permissions, ...(await facts.describe(record)) });
      },
    }),
    createHistory(parts),
  ];
}

function createWriters(parts: DnsParts): OwnTool[] {
  const { registry, scope, facts } = parts;
  return [
    defineTool({
      ...tools["dns:rename"],
      title: "Rename a capability",
      description: "Gives a capability another name; the old one keeps working as an alias.",
      annotations: writes,
      async run({ name, newName: to }, context) {
        const asker = askerOf(scope, context);
        const via = asker.client === COMMAND_LINE ? "user" : "agent";
        const renamed = await registry.rename(asker, { from: name, to, via });
        return json({ ...changed(renamed), old_name: renamed.oldName, old_fqdn: renamed.oldFqdn });
      },
    }),
    createTag(parts),
    defineTool({
      ...tools["dns:fork"],
      title: "Copy a capability",
      description: "Copies a capability into your project, to be changed there. It remembers where it came from.",
      annotations: writes,
      async run(input, context) {
        const forked = await registry.fork(askerOf(scope, context), withoutUndefined(input));
        return json({ ...changed(forked), ...(await facts.describe(forked.record)) });
      },
    }),
    defineTool({
      ...tools["dns:merge"],
      title: "Combine capabilities into a pipeline",
      description:
        "Makes one capability of several: each gets the arguments with the result of the one before laid over them. It is listed after its first success.",
      annotations: writes,
      async run(input, context) {
        return json(changed(await registry.merge(askerOf(scope, context), withoutUndefined(input))));
      },
    }),
    createUpdate(parts),
  ];
}

function createUpdate({ registry, scope }: DnsParts): OwnTool {
  return defineTool({
    ...tools["dns:update"],
    title: "New version of a capability",
    description: "Gives a capability new code as a new version; the old versions stay callable with @.",
    annotations: writes,
    async run({ name, code, version_tag: tag, change_summary: summary, description }, context) {
      const request = withoutUndefined({ name, code, versionTag: tag, changeSummary: summary, description });
      return json(changed(await registry.update(askerOf(scope, context), request)));
    },
  });
}
