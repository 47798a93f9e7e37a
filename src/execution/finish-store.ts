import { formatCapabilityId } from "../catalogue/tool-id.ts";
import { SCOPE_CHANNEL } from "../registry/scope-version-store.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { JsonValue } from "../base/json.ts";
import type { GraphEdge } from "../learning/edge-store.ts";
import type { JournalEntry } from "./journal.ts";
import { describeRun } from "./note-store.ts";
import { LONGEST_PACKED, PACKED_TASK, type PackedResult } from "../gateway/results/packed-results.ts";
import type { RunError } from "../contract/execute.ts";
import { type LogLine, type RunRecord, type RunState, toBatch, toJson } from "./run-store.ts";
import { OWNER } from "../registry/scope.ts";
import type { Trace } from "./trace.ts";

/** A finished run with everything that is stored about it. */
export interface FinishedRun {
  readonly run: RunRecord;
  readonly state: Extract<RunState, "succeeded" | "failed" | "cancelled">;
  readonly result: JsonValue | undefined;
  readonly error: RunError | undefined;
  readonly logs: readonly LogLine[];
  readonly trace: Trace;
  readonly durationMs: number;
  /** The whole journal, redacted and shortened for storage. */
  readonly entries: readonly JournalEntry[];
  readonly edges: readonly GraphEdge[];
  readonly calledCapabilities: readonly { readonly id: string; readonly version: number }[];
  /** True for a draft, whose first success is announced to other gateways. */
  readonly isNew: boolean;
  /** True if a successful draft becomes a capability. */
  readonly activate: boolean;
  readonly resultSeconds: number;
  /** True if the program had other words than the capability. */
  readonly hasOwnText: boolean;
  /** True if the outcome is evidence about the capability. */
  readonly counts: boolean;
}

export const PREVIEW_LENGTH = 240;

/**
 * Aggregates counters of several runs into one row each, since a statement may change a row only once. Orders rows,
 * so that two gateways on one server do not deadlock.
 */
const FINISH_RUNS = `
    WITH p AS MATERIALIZED (
      SELECT place, n.*
      FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS given(run, place),
        jsonb_to_record(run) AS n(org text, project text, id uuid, kind text, state text, record_id uuid, version integer,
          source_hash text, intent text, input jsonb, seed bigint, started_ms bigint, finished_ms bigint, principal text,
          principal_id uuid, client text, parent_run_id uuid, parent_call text, options jsonb, approved_tools jsonb,
          result jsonb, error jsonb, logs jsonb, journal jsonb, success boolean, path jsonb, choices jsonb, tasks jsonb,
          duration_ms double precision, results jsonb, result_seconds double precision, decisions jsonb, edges jsonb,
          nested jsonb, uses jsonb, tags jsonb, counts boolean, activate boolean)
      -- A subquery instead of a join: the prepared plan must not scan all runs once there are many.
      WHERE (SELECT finished_at FROM execution_run WHERE org = n.org AND id = n.id) IS NULL),
    run AS (
      INSERT INTO execution_run AS r (org, id, project, kind, state, record_id, version, source_hash, intent, input, seed,
        started_ms, principal, client, parent_run_id, parent_call, options, approved_tools, result, error, logs,
        created_at, finished_at)
      SELECT org, id, project, kind, state, record_id, version, source_hash, intent, input, seed,
        started_ms, principal, client, parent_run_id, parent_call, options,
        ARRAY(SELECT jsonb_array_elements_text(approved_tools)), result, error, logs,
        to_timestamp(started_ms / 1000.0), to_timestamp(finished_ms / 1000.0)
      FROM p
      ON CONFLICT (org, id) DO UPDATE SET state = excluded.state, result = excluded.result, error = excluded.error,
        logs = excluded.logs, finished_at = excluded.finished_at, owner = NULL, lease_until = NULL,
        approved_tools = excluded.approved_tools, input = excluded.input, options = excluded.options,
        record_id = excluded.record_id, version = excluded.version, source_hash = excluded.source_hash),
    journal AS (
      INSERT INTO run_journal AS w (org, run_id, seq, kind, payload)
      SELECT org, id, 0, 'batch', journal FROM p WHERE journal IS NOT NULL
      ON CONFLICT (org, run_id, seq) DO UPDATE SET payload = excluded.payload),
    superseded AS (
      DELETE FROM run_journal WHERE org = ANY(ARRAY(SELECT org FROM p)) AND run_id = ANY(ARRAY(SELECT id FROM p)) AND seq > 0),
    trace AS (
      INSERT INTO execution_trace (org, run_id, project, record_id, version, parent_run_id, success, error, executed_path,
        decisions, task_summaries, duration_ms, created_at)
      SELECT org, id, project, record_id, version, parent_run_id, success, error, path, choices, tasks, duration_ms,
        to_timestamp(finished_ms / 1000.0)
      FROM p
      ON CONFLICT (org, run_id) DO NOTHING),
    results AS (
      INSERT INTO task_results (org, project, run_id, task_id, principal_id, tool_id, status, preview, result, result_bytes, expires_at)
      SELECT org, project, p.id, t.id, principal_id, t.tool, t.status, t.preview, convert_to(t.result, 'UTF8'),
        octet_length(t.result), now() + make_interval(secs => result_seconds)
      FROM p, jsonb_to_recordset(results) AS t(id text, tool text, status text, preview text, result text)
      ON CONFLICT (org, run_id, task_id) DO NOTHING),
    stat AS (
      INSERT INTO capability_stat AS s (org, record_id, usage_count, success_count, total_latency_ms, last_used_at)
      SELECT org, record_id, count(*), count(*) FILTER (WHERE success), sum(duration_ms::bigint), now()
      FROM p WHERE counts GROUP BY org, record_id
      ON CONFLICT (org, record_id) DO UPDATE SET usage_count = s.usage_count + excluded.usage_count,
        success_count = s.success_count + excluded.success_count,
        total_latency_ms = s.total_latency_ms + excluded.total_latency_ms, last_used_at = now()),
    path AS (
      INSERT INTO capability_path AS s (org, record_id, version, path_key, path, count, success_count, total_ms)
      SELECT org, record_id, version, md5(path::text), ARRAY(SELECT jsonb_array_elements_text(path)), count(*),
        count(*) FILTER (WHERE success), sum(duration_ms)
      FROM p WHERE counts GROUP BY org, record_id, version, path
      ON CONFLICT (org, record_id, version, path_key) DO UPDATE SET count = s.count + excluded.count, last_at = now(),
        success_count = s.success_count + excluded.success_count, total_ms = s.total_ms + excluded.total_ms),
    decided AS (
      INSERT INTO capability_decision AS s (org, record_id, version, node_id, outcome, count, success_count)
      SELECT org, record_id, version, d.node, d.outcome, sum(d.count), coalesce(sum(d.count) FILTER (WHERE success), 0)
      FROM p, jsonb_to_recordset(decisions) AS d(node text, outcome text, count bigint)
      WHERE counts GROUP BY org, record_id, version, d.node, d.outcome ORDER BY record_id, d.node, d.outcome
      ON CONFLICT (org, record_id, version, node_id, outcome) DO UPDATE SET count = s.count + excluded.count,
        success_count = s.success_count + excluded.success_count),
    edges AS (
      INSERT INTO tool_edge AS s (org, project, from_id, to_id, edge_type, source, observed_count)
      SELECT org, project, e.from_id, e.to_id, e.type, 'observed', count(*)
      FROM p, jsonb_to_recordset(edges) AS e(from_id text, to_id text, type text)
      GROUP BY org, project, e.from_id, e.to_id, e.type ORDER BY e.from_id, e.to_id, e.type
      ON CONFLICT (org, project, from_id, to_id, edge_type) DO UPDATE SET
        observed_count = s.observed_count + excluded.observed_count, source = 'observed', last_at = now()),
    tallied AS (
      INSERT INTO discovery_tally AS s (org, project, subject, tag, uses, successes)
      SELECT org, project, u.subject, tag, sum(u.uses), sum(u.successes)
      FROM p, jsonb_to_recordset(uses) AS u(subject text, uses bigint, successes bigint),
        jsonb_array_elements_text(tags) AS tag
      WHERE state <> 'cancelled' GROUP BY org, project, u.subject, tag ORDER BY u.subject, tag
      ON CONFLICT (org, project, subject, tag) DO UPDATE SET uses = s.uses + excluded.uses,
        successes = s.successes + excluded.successes, changed_at = clock_timestamp()),
    intended AS (
      INSERT INTO discovery_intent AS s (org, project, subject, intent_hash, intent, uses)
      SELECT org, project, u.subject, md5(intent), intent, count(*)
      FROM p, jsonb_to_recordset(uses) AS u(subject text, successes bigint)
      WHERE success AND intent <> '' AND u.successes > 0
      GROUP BY org, project, u.subject, intent ORDER BY u.subject
      ON CONFLICT (org, project, subject, intent_hash) DO UPDATE SET uses = s.uses + excluded.uses,
        changed_at = clock_timestamp()),
    nested AS (
      INSERT INTO capability_dependency AS s (org, from_record_id, from_version, to_record_id, to_version, observed_count)
      SELECT org, record_id, p.version, n.id, (array_agg(n.version ORDER BY place) FILTER (WHERE success))[1], count(*)
      FROM p, jsonb_to_recordset(nested) AS n(id uuid, version integer)
      GROUP BY org, record_id, p.version, n.id ORDER BY record_id, n.id
      ON CONFLICT (org, from_record_id, from_version, to_record_id) DO UPDATE SET
        observed_count = s.observed_count + excluded.observed_count,
        to_version = coalesce(s.to_version, excluded.to_version)),
    activated AS (
      UPDATE capability_records SET state = 'active', updated_at = now()
      WHERE org = ANY(ARRAY(SELECT org FROM p WHERE activate)) AND id = ANY(ARRAY(SELECT record_id FROM p WHERE activate))
        AND state = 'draft'
      RETURNING org, project),
    bumped AS (
      INSERT INTO scope_version AS s (org, project) SELECT DISTINCT org, project FROM activated
      ON CONFLICT (org, project) DO UPDATE SET version = s.version + 1, changed_at = now() RETURNING org, project)
    SELECT pg_notify('${SCOPE_CHANNEL}', jsonb_build_object('org', org, 'project', project)::text) FROM bumped`;

/**
 * Stores run, journal, trace, results, counters and graph in one statement: one round trip, one commit, all or nothing.
 * Notifies other gateways if a draft became a capability. Idempotent: a run that has already ended is skipped.
 * @param ends as `describeEnd` writes them, at most one per run
 */
export async function endRuns(client: Pick<DatabaseClient, "executePrepared">, ends: readonly string[]): Promise<void> {
  await client.executePrepared("finish-runs", FINISH_RUNS, [`[${ends.join(",")}]`]);
}

/** Serialises everything that is stored about a finished run as a line of JSON. */
export function describeEnd(finished: FinishedRun): string {
  const { entries } = finished;
  const text = toJson(toPayload(finished));
  return entries.length === 0 ? text : `${text.slice(0, -1)},"journal":${toBatch(entries)}}`;
}

/** Everything of an end that is learned from the run or kept beside its outcome. */
const NO_DETAILS = {
  logs: [],
  journal: { entries: [] },
  path: [],
  choices: [],
  tasks: [],
  results: [],
  decisions: [],
  edges: [],
  nested: [],
  uses: [],
  tags: [],
  counts: false,
  activate: false,
};

/** The outcome of an end alone, for a database that does not take the whole. */
export function withoutDetails(end: string): string {
  return toJson({ ...(JSON.parse(end) as object), ...NO_DETAILS });
}

/** The same run as a failure without details. */
export function asFailure(end: string, error: RunError): string {
  const failed = { state: "failed", success: false, result: null, error };
  return toJson({ ...(JSON.parse(end) as object), ...NO_DETAILS, ...failed });
}

function toPayload(finished: FinishedRun): Record<string, unknown> {
  const { run, state, result, error, logs, trace, durationMs, resultSeconds } = finished;
  const success = state === "succeeded";
  // The text was kept to resume the run; it stays where it is not the capability's own.
  const { text, ...rest } = run.options;
  const options = finished.hasOwnText && text !== undefined ? { ...rest, text } : rest;
  return {
    ...describeRun({ ...run, options }),
    // The gateway's owner has no principal id.
    principal_id: run.principal === OWNER ? null : run.principal,
    state,
    result,
    error,
    logs,
    finished_ms: Date.now(),
    success,
    path: trace.path,
    choices: trace.decisions,
    tasks: trace.tasks.map(({ result: _full, ...task }) => task),
    duration_ms: durationMs,
    results: packResults(trace),
    result_seconds: resultSeconds,
    decisions: countDecisions(trace),
    edges: finished.edges.map(({ from, to, type }) => ({ from_id: from, to_id: to, type })),
    nested: finished.calledCapabilities,
    uses: countUses(finished),
    // The empty tag counts uses in every context.
    tags: [...new Set(["", ...(run.options.contextTags ?? [])])],
    counts: finished.counts,
    activate: success && finished.activate,
  };
}

interface UseCount {
  readonly subject: string;
  readonly uses: number;
  readonly successes: number;
}

/** Uses and successes of the capability and of each tool it called. */
function countUses({ run, state, trace, counts }: FinishedRun): UseCount[] {
  const calls = trace.tasks.filter(({ kind, status }) => kind === "tool" && status !== "unfinished");
  const tools = [...Map.groupBy(calls, ({ tool }) => tool)].map(([subject, group]) => ({
    subject,
    uses: group.length,
    successes: group.filter(({ status }) => status === "success").length,
  }));
  if (!counts) return tools;
  return [{ subject: formatCapabilityId(run.recordId), uses: 1, successes: state === "succeeded" ? 1 : 0 }, ...tools];
}

interface TaskResultRow {
  readonly id: string;
  readonly tool: string | null;
  readonly status: string;
  readonly preview: string;
  readonly result: string;
}

/** Packs short results into one row, since a row costs more than most of them. */
function packResults({ tasks }: Trace): TaskResultRow[] {
  const texts = tasks
    .filter(({ status }) => status !== "unfinished")
    .map(({ id, tool, status, error, result }) => {
      const text = JSON.stringify(status === "error" ? { error } : (result ?? null));
      return { id, tool, status, preview: text.slice(0, PREVIEW_LENGTH), result: text };
    });
  const short = texts.filter(({ result }) => result.length <= LONGEST_PACKED);
  const long = texts.filter(({ result }) => result.length > LONGEST_PACKED);
  if (short.length === 0) return long;
  const packed = Object.fromEntries(
    short.map(({ id, tool, result: text }) => [id, { tool, text } satisfies PackedResult]),
  );
  const row = { id: PACKED_TASK, tool: null, status: "success", preview: "", result: JSON.stringify(packed) };
  return [...long, row];
}

function countDecisions({ decisions }: Trace): { node: string; outcome: string; count: number }[] {
  const groups = Map.groupBy(decisions, ({ nodeId, outcome }) => JSON.stringify([nodeId, outcome]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ node: first.nodeId, outcome: first.outcome, count: group.length }];
  });
}
