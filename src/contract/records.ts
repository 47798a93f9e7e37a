import { z } from "zod";
import { EFFECTS } from "../permissions/effect.ts";
import {
  CACHE_POLICIES,
  CONFLICT_POLICIES,
  HEALTHS,
  RECORD_SORTS,
  RECORD_STATES,
  RECORD_TYPES,
  ROUTINGS,
  VISIBILITIES,
} from "../registry/record-words.ts";
import { capabilitySource } from "./structure.ts";
import {
  type Received,
  type Sent,
  changeSummary,
  count,
  description,
  instant,
  jsonSchema,
  tags,
  texts,
} from "./wire.ts";

const MOST_RECORDS = 200;

const reference = z
  .string()
  .min(1)
  .describe("Name, former name, FQDN or id; @v1, @v1.2.0, @2025-12-22 or @latest after it.");
const capabilityName = z.string().min(1).describe("Name of the capability.");
const newName = z.string().min(1).describe("namespace:action, for example fs:read_json.");
const versionTag = z.string().optional().describe("Semantic version, for example v1.2.0.");
const summary = changeSummary.optional().describe("What is different, for the history.");
const code = z.string().min(1).describe("As in pml_execute.");
const version = z.string().min(1).describe("1, v1, v1.2.0, 2025-12-22 or latest.");

export const lookupRequest = z.strictObject({ name: reference });
export const whoisRequest = z.strictObject({ fqdn: reference });
/** For what is done to one capability. */
export const capabilityRequest = z.strictObject({ name: capabilityName });

export const historyRequest = z.strictObject({
  name: reference,
  compare: z
    .strictObject({ from: version.optional(), to: version.optional() })
    .optional()
    .describe("Two versions to compare instead; left out: the current one with the one before."),
});

export const queryRequest = z.strictObject({
  created_by: z.string().optional().describe("Creator; * stands for anything: erwan@*."),
  tags: tags.optional().describe("All of these."),
  visibility: z.enum(VISIBILITIES).optional(),
  version_tag: z.string().optional().describe("Tag of the current version; * stands for anything: v1.*."),
  namespace: z.string().optional(),
  pattern: z.string().optional().describe("Name; * stands for anything: fs:*."),
  text: z.string().optional().describe("Words of name or description."),
  routing: z.enum(ROUTINGS).optional(),
  health: z.enum(HEALTHS).optional(),
  record_type: z.enum(RECORD_TYPES).optional(),
  archived: z.boolean().default(false).describe("Archived records instead of active ones."),
  sort_by: z.enum(RECORD_SORTS).default("name"),
  limit: z.number().int().min(1).max(MOST_RECORDS).default(20),
  cursor: z.string().optional().describe("next_cursor of the page before."),
});

export const renameRequest = z.strictObject({ name: reference, newName });

export const tagRequest = z.strictObject({
  name: reference,
  tags: tags.optional(),
  cache_policy: z
    .enum(CACHE_POLICIES)
    .optional()
    .describe(
      "Whether an answer is given again for equal arguments: never, while the gateway runs (memoize), or after that too (persistent). Only of what does nothing but read.",
    ),
  ttl: z.number().int().positive().nullable().optional().describe("Seconds for which; null for no end."),
  routing: z
    .enum([...ROUTINGS, "inherit"])
    .optional()
    .describe("Where it runs, whatever its tools say; inherit goes by its tools again."),
});

export const forkRequest = z.strictObject({
  source: reference,
  name: newName.optional().describe("Name of the copy; left out: the same, where it is free."),
});

export const mergeRequest = z.strictObject({
  sources: z.array(reference).min(2),
  name: newName,
  code: z.string().min(1).optional().describe("Own code instead of the generated pipeline."),
});

export const updateRequest = z.strictObject({
  name: reference,
  code,
  version_tag: versionTag,
  change_summary: summary,
  description: description.optional(),
});

export const saveRequest = z.strictObject({
  name: newName,
  code,
  description: description.optional(),
  tags: tags.optional(),
  visibility: z.enum(VISIBILITIES).optional(),
  on_conflict: z.enum(CONFLICT_POLICIES).default("error").describe("If the name is taken."),
  version_tag: versionTag,
  change_summary: summary,
});

export const feedbackRequest = z.strictObject({
  name: capabilityName,
  success: z.boolean(),
  latency_ms: z.number().min(0).optional(),
});

const routing = z.enum(ROUTINGS).describe("local as soon as one of its tools is.");

export const recordBrief = z.object({
  type: z.enum(RECORD_TYPES),
  id: z.string(),
  fqdn: z.string(),
  display_name: z.string(),
  author: z.string().optional().describe("Whose words these are, if not yours."),
  description: z.string(),
  version: z.union([z.number(), z.string()]).describe("A number; of an MCP server the version it gives itself."),
  version_tag: z.string().nullable(),
  visibility: z.enum(VISIBILITIES),
  state: z.enum(RECORD_STATES),
  health: z.enum(HEALTHS),
  routing: routing.nullable(),
  tags: texts,
  usage_count: count,
  success_rate: z.number(),
  avg_latency_ms: z.number(),
});

/** Facts about an MCP server; other records have none of them. */
const serverFacts = {
  version_number: z.number().optional(),
  registry_name: z.string().optional().describe("Its name in the official registry."),
  code_url: z.string().optional().describe("Serves its implementation."),
  server_json: jsonSchema.optional(),
};

export const lookupAnswer = recordBrief.extend({
  routing,
  parameters_schema: jsonSchema,
  tools_used: texts,
  ...serverFacts,
  warnings: texts.optional(),
});

export const whoisAnswer = recordBrief.extend({
  routing,
  org: z.string(),
  project: z.string(),
  namespace: z.string(),
  action: z.string(),
  hash: z.string(),
  created_by: z.string(),
  created_at: instant,
  updated_by: z.string(),
  updated_at: instant,
  archived_at: instant.nullable(),
  ttl: z.number().nullable().describe("Seconds for which an answer may be used again."),
  cache_policy: z.enum(CACHE_POLICIES),
  parent_id: z.string().nullable(),
  forked_from: z.string().nullable().describe("The FQDN it was copied from."),
  aliases: texts,
  verified: z.boolean(),
  signature: z.string().nullable(),
  success_count: count,
  total_latency_ms: z.number(),
  last_used_at: instant.nullable(),
  tools_used: texts,
  parameters_schema: jsonSchema,
  source: capabilitySource.nullable(),
  code_snippet: z.string().nullable(),
  permission_set: z
    .array(z.object({ tool: z.string(), effect: z.enum(EFFECTS), allowed_by: z.enum(["rule", "person"]) }))
    .describe("The tools that this version was last allowed to call."),
  ...serverFacts,
});

export const queryAnswer = z.object({
  records: z.array(recordBrief.extend({ routing })),
  total: count.nullable().describe("Of all pages; null after the first."),
  next_cursor: z.string().nullable().describe("For the next page; null: that was all."),
});

const setChanges = z.object({ added: texts, removed: texts });

const versionChanges = z.object({
  code: z.string().describe("Unified diff."),
  structure: z.object({ nodes: setChanges, changed: texts, edges: setChanges }),
  tools: setChanges,
  parameters: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(["added", "removed", "required", "optional", "type", "values", "limit", "default", "closed"]),
      breaking: z.boolean(),
      explanation: z.string(),
    }),
  ),
  breaking: z.boolean().describe("Whether calls that were right before may fail or mean something else."),
});

const versionAnswer = z.object({
  version: z.number(),
  version_tag: z.string().nullable(),
  change_summary: z.string().nullable(),
  updated_by: z.string(),
  updated_at: instant,
  source_hash: z.string(),
  signature: z.string().nullable(),
  tools_used: texts,
  parameters_schema: jsonSchema,
  code_snippet: z.string().nullable(),
  source: capabilitySource.optional().describe("Only where it is no program."),
  server_json: z.unknown().optional(),
  diff: versionChanges.nullable().describe("null: there is none before it."),
});

const versionList = z.object({ name: z.string(), versions: z.array(versionAnswer).describe("Newest first.") });
const comparison = z.object({
  name: z.string(),
  comparison: z.object({ from: z.number(), to: z.number(), diff: versionChanges }),
});
/** A comparison where one was asked for, otherwise the versions. */
export const historyAnswer = z.union([versionList, comparison]);

export const changedAnswer = recordBrief.extend({
  forked_from: z.string().nullable(),
  aliases: texts,
  warnings: texts,
});
export const tagAnswer = changedAnswer.extend({ routing });
export const renameAnswer = changedAnswer.extend({ old_name: z.string(), old_fqdn: z.string() });
export const forkAnswer = changedAnswer.extend({ routing, ...serverFacts });
export const feedbackAnswer = recordBrief.extend({ success_count: count, total_latency_ms: z.number() });

export type RecordBrief = Received<typeof recordBrief>;
export type LookupAnswer = Received<typeof lookupAnswer>;
export type WhoisAnswer = Received<typeof whoisAnswer>;
export type QueryRequest = Sent<typeof queryRequest>;
export type QueryAnswer = Received<typeof queryAnswer>;
export type VersionChanges = Received<typeof versionChanges>;
export type VersionAnswer = Received<typeof versionAnswer>;
export type HistoryAnswer = Received<typeof versionList>;
