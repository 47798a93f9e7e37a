import { z } from "zod";
import { HEALTHS, ROUTINGS, VISIBILITIES } from "../../../src/registry/record.ts";
import { RECORD_SORTS, type RecordQuery } from "../../../src/registry/registry.ts";
import { askerOf, defineTool, type OwnTool } from "../../../src/mcp/own-tools/own-tool.ts";
import { ToolModule } from "../../../src/mcp/servers/tool-module.ts";
import { withoutUndefined } from "../../../src/base/without-undefined.ts";
import { describeBriefly, describeRecord } from "./describe-record.ts";
import { createHistory } from "./dns-history.ts";
import { changed, type DnsParts, json, reads, reference, tags, writes } from "./dns-parts.ts";
import { createTag } from "./dns-tag.ts";

export type { DnsParts } from "./dns-parts.ts";

const MOST_RECORDS = 200;

const newName = z.string().min(1).describe("namespace:action, for example fs:read_json.");
export const versionTag = z.string().optional().describe("Semantic version, for example v1.2.0.");
export const changeSummary = z.string().optional().describe("What is different, for the history.");

/** The registry: who is behind a name, and everything that can be done to names. */
export class DnsModule extends ToolModule {
  constructor(parts: DnsParts) {
    super("dns", [...createReaders(parts), ...createWriters(parts)]);
  }
}

function createReaders(parts: DnsParts): OwnTool[] {
  const { registry, scope, facts } = parts;
  return [
    defineTool({
      name: "dns:lookup",
      title: "Look up a name",
      description: "What a name stands for: FQDN, version, description, use.",
      input: z.strictObject({ name: reference }),
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
      name: "dns:whois",
      title: "Everything about a record",
      description: "The complete record behind an FQDN or name: creator, provenance, aliases, statistics, code.",
      input: z.strictObject({ fqdn: reference }),
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

function createQuery({ registry, scope, facts }: DnsParts): OwnTool {
  return defineTool({
    name: "dns:query",
    title: "Search the registry",
    description: "Records by creator, tags, visibility, version and more; all conditions must hold.",
    input: z.strictObject({
      created_by: z.string().optional().describe("Creator; * stands for anything: erwan@*."),
      tags: tags.optional().describe("All of these."),
      visibility: z.enum(VISIBILITIES).optional(),
      version_tag: z.string().optional().describe("Tag of the current version; * stands for anything: v1.*."),
      namespace: z.string().optional(),
      pattern: z.string().optional().describe("Name; * stands for anything: fs:*."),
      text: z.string().optional().describe("Words of name or description."),
      routing: z.enum(ROUTINGS).optional(),
      health: z.enum(HEALTHS).optional(),
      record_type: z.enum(["capability", "mcp-server"]).optional(),
      archived: z.boolean().default(false).describe("Archived records instead of active ones."),
      sort_by: z.enum(RECORD_SORTS).default("name"),
      limit: z.number().int().min(1).max(MOST_RECORDS).default(20),
      cursor: z.string().optional().describe("next_cursor of the page before."),
    }),
    annotations: reads,
    async run(input, context) {
      const page = await registry.query(askerOf(scope, context), toQuery(input));
      const { records, nextCursor, total } = page;
      const described = records.map((record) => ({ ...describeBriefly(record), routing: facts.routingOf(record) }));
      return json({ records: described, total: total ?? null, next_cursor: nextCursor ?? null });
    },
  });
}

function createWriters(parts: DnsParts): OwnTool[] {
  const { registry, scope, facts } = parts;
  return [
    defineTool({
      name: "dns:rename",
      title: "Rename a capability",
      description: "Gives a capability another name; the old one keeps working as an alias.",
      input: z.strictObject({ name: reference, newName }),
      annotations: writes,
      async run({ name, newName: to }, context) {
        const renamed = await registry.rename(askerOf(scope, context), { from: name, to, via: "agent" });
        return json({ ...changed(renamed), old_name: renamed.oldName, old_fqdn: renamed.oldFqdn });
      },
    }),
    createTag(parts),
    defineTool({
      name: "dns:fork",
      title: "Copy a capability",
      description: "Copies a capability into your project, to be changed there. It remembers where it came from.",
      input: z.strictObject({
        source: reference,
        name: newName.optional().describe("Name of the copy; left out: the same, where it is free."),
      }),
      annotations: writes,
      async run(input, context) {
        const forked = await registry.fork(askerOf(scope, context), withoutUndefined(input));
        return json({ ...changed(forked), ...(await facts.describe(forked.record)) });
      },
    }),
    defineTool({
      name: "dns:merge",
      title: "Combine capabilities into a pipeline",
      description:
        "Makes one capability of several: each gets the arguments with the result of the one before laid over them. It is listed after its first success.",
      input: z.strictObject({
        sources: z.array(reference).min(2),
        name: newName,
        code: z.string().min(1).optional().describe("Own code instead of the generated pipeline."),
      }),
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
    name: "dns:update",
    title: "New version of a capability",
    description: "Gives a capability new code as a new version; the old versions stay callable with @.",
    input: z.strictObject({
      name: reference,
      code: z.string().min(1).describe("As in pml_execute."),
      version_tag: versionTag,
      change_summary: changeSummary,
      description: z.string().optional(),
    }),
    annotations: writes,
    async run({ name, code, version_tag: tag, change_summary: summary, description }, context) {
      const request = withoutUndefined({ name, code, versionTag: tag, changeSummary: summary, description });
      return json(changed(await registry.update(askerOf(scope, context), request)));
    },
  });
}

interface QueryInput {
  created_by?: string | undefined;
  version_tag?: string | undefined;
  record_type?: RecordQuery["recordType"] | undefined;
  sort_by: NonNullable<RecordQuery["sortBy"]>;
  archived: boolean;
  limit: number;
}

function toQuery(input: QueryInput): RecordQuery {
  const {
    created_by: createdBy,
    version_tag: tag,
    record_type: recordType,
    sort_by: sortBy,
    archived,
    ...rest
  } = input;
  const states = archived ? (["archived"] as const) : undefined;
  return withoutUndefined({ ...rest, createdBy, versionTag: tag, recordType, sortBy, states });
}
