import { z } from "zod";
import { CACHE_POLICIES, RECORD_STATES, RECORD_TYPES, VISIBILITIES } from "../registry/record-words.ts";

/**
 * Rows of an export that an import reads, with the columns it believes. A file carries texts, names, versions and
 * finished runs. Grants, health, counters, effects, authors and tool definitions are not here: they are computed from
 * what arrives, or decided by people of this gateway. Columns that older exports lack are optional.
 */
const id = z.guid().transform((text) => text.toLowerCase());
const text = z.string();
const optionalText = z.string().nullish();
/** As the database prints it; anything else, such as `infinity`, is no time. */
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:\+00:00|Z)$/);
const optionalTime = time.nullish();
const LARGEST_INTEGER = 2_147_483_647;
const positive = z.int().min(1).max(LARGEST_INTEGER);

export const recordRow = z.object({
  id,
  record_type: z.enum(RECORD_TYPES).default("capability"),
  display_name: text,
  namespace: text,
  hash: text,
  state: z.enum(RECORD_STATES),
  state_before: z.enum(["draft", "active"]).nullish(),
  version: positive,
  version_tag: optionalText,
  visibility: z.enum(VISIBILITIES).default("private"),
  description: optionalText,
  tags: z.array(z.string()).default([]),
  ttl_seconds: positive.nullish(),
  cache_policy: z.enum(CACHE_POLICIES).nullish(),
  parent_id: id.nullish(),
  forked_from: id.nullish(),
  forked_from_fqdn: optionalText,
  created_at: time,
  updated_at: time,
  archived_at: optionalTime,
  deleted_at: optionalTime,
});
export type RecordRow = z.output<typeof recordRow>;

export const versionRow = z.object({
  record_id: id,
  version: positive,
  version_tag: optionalText,
  source_kind: z.enum(["code", "dag", "tool", "server"]),
  code_snippet: optionalText,
  source: z.unknown().optional(),
  source_hash: text,
  parameters_schema: z.unknown().optional(),
  tools_used: z.array(z.string()).default([]),
  change_summary: optionalText,
  signature: optionalText,
  created_at: time,
});
export type VersionRow = z.output<typeof versionRow>;

export const aliasRow = z.object({ record_id: id, alias: text, kind: z.enum(["name", "fqdn"]), created_at: time });
export type AliasRow = z.output<typeof aliasRow>;

export const renameRow = z.object({
  id,
  record_id: id,
  old_name: text,
  new_name: text,
  old_fqdn: text,
  new_fqdn: text,
  renamed_via: z.enum(["auto", "user", "agent"]),
  renamed_at: time,
});
export type RenameRow = z.output<typeof renameRow>;

/** The version of a called capability that a program is pinned to. */
export const pinRow = z.object({
  from_record_id: id,
  from_version: positive.default(1),
  to_record_id: id,
  to_version: positive.nullish(),
  created_at: time,
});
export type PinRow = z.output<typeof pinRow>;

export const FINISHED_STATES = ["succeeded", "failed", "cancelled"] as const;

const jsonObject = z.record(z.string(), z.unknown());

export const runRow = z.object({
  id,
  parent_run_id: id.nullish(),
  parent_call: optionalText,
  record_id: id,
  version: positive,
  intent: optionalText,
  input: jsonObject.nullish(),
  state: z.enum(FINISHED_STATES),
  kind: z.enum(["code", "dag", "tool"]).default("code"),
  seed: z.int().default(0),
  started_ms: z.int().nonnegative().default(0),
  client: optionalText,
  options: z.object({ contextTags: z.array(z.string()).optional(), timeoutMs: z.number().optional() }).nullish(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).loose().nullish(),
  logs: z.array(z.object({ level: z.string(), text: z.string() })).nullish(),
  created_at: time,
  finished_at: optionalTime,
});
export type RunRow = z.output<typeof runRow>;

const place = { seq: z.int().nonnegative(), loop: z.string() };
const target = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("tool"), tool: text }),
  z.object({ kind: z.literal("capability"), name: text, runId: id }),
  z.object({ kind: z.literal("sleep") }),
]);
const outcome = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.unknown().optional() }).loose(),
  z.object({ ok: z.literal(false), error: z.object({ name: text, message: text }).loose() }).loose(),
]);
const journalEntry = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("call"),
    ...place,
    node: z.string().optional(),
    target,
    args: z.unknown().optional(),
    at: z.number(),
  }),
  z.object({ kind: z.literal("answer"), seq: place.seq, call: z.int(), clock: z.number(), outcome }),
  z.object({ kind: z.literal("decision"), ...place, node: text, outcome: text }),
]);
export const journalBatch = z.object({ entries: z.array(journalEntry) });
export type JournalBatch = z.output<typeof journalBatch>;

export const journalRow = z.object({
  run_id: id,
  seq: z.int().nonnegative().max(LARGEST_INTEGER),
  kind: z.literal("batch"),
  /** Entries, or their text where the database cannot hold them as JSON. */
  payload: z.union([z.object({ exact: z.string() }), journalBatch]),
  written_at: time,
});
export type JournalRow = z.output<typeof journalRow>;

const LONGEST_RUN_MS = 30 * 86_400_000;

export const traceRow = z.object({
  run_id: id,
  error: z.unknown().optional(),
  executed_path: z.array(z.string()),
  decisions: z.array(z.object({ nodeId: text, outcome: text }).loose()),
  task_summaries: z.array(z.object({ tool: text, kind: text, status: text }).loose()),
  duration_ms: z.number().min(0).max(LONGEST_RUN_MS),
  created_at: time,
});
export type TraceRow = z.output<typeof traceRow>;

export const resultRow = z.object({
  run_id: id,
  task_id: text,
  tool_id: optionalText,
  content_type: z.enum(["text/plain", "application/json"]).default("application/json"),
  status: text,
  preview: text,
  /** Bytes as the database prints them. */
  result: z
    .string()
    .regex(/^\\x(?:[0-9a-f]{2})*$/)
    .nullish(),
  result_bytes: z.int().nonnegative(),
  created_at: time,
  expires_at: time,
});
export type ResultRow = z.output<typeof resultRow>;
