import { SCOPE_CHANNEL } from "../capabilities/scope-version-store.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { JsonValue } from "../json.ts";
import type { GraphEdge } from "../graph/edge-store.ts";
import type { JournalEntry } from "./journal.ts";
import { LONGEST_PACKED, PACKED_TASK, type PackedResult } from "../results/packed-results.ts";
import { type LogLine, type Run, type RunError, type RunState, toBatch, toJson } from "./run-store.ts";
import { OWNER } from "../capabilities/scope.ts";
import type { Trace } from "./trace.ts";

/** How a run ended and what is to be remembered of it. */
export interface FinishedRun {
  readonly run: Run;
  readonly state: Extract<RunState, "succeeded" | "failed" | "cancelled">;
  readonly result: JsonValue | undefined;
  readonly error: RunError | undefined;
  readonly logs: readonly LogLine[];
  readonly trace: Trace;
  readonly durationMs: number;
  /** The whole journal, in the form in which it is kept. */
  readonly entries: readonly JournalEntry[];
  readonly edges: readonly GraphEdge[];
  readonly calledCapabilities: readonly { readonly id: string; readonly version: number }[];
  /** Whether the program is a draft so far, of which others are told when it becomes a capability. */
  readonly isNew: boolean;
  /** Whether a draft that succeeded becomes a capability. */
  readonly activate: boolean;
  readonly resultSeconds: number;
}

export const PREVIEW_LENGTH = 240;

const FINISH_RUN = `
    WITH p AS MATERIALIZED (
      SELECT $1::jsonb AS j
      WHERE NOT EXISTS (SELECT FROM execution_run WHERE org = $2 AND id = $4::uuid AND finished_at IS NOT NULL)),
    run AS (
      INSERT INTO execution_run AS r (org, id, project, kind, state, record_id, version, source_hash, intent, input, seed,
        started_ms, principal, client, parent_run_id, parent_call, options, approved_tools, result, error, logs, finished_at)
      SELECT $2::text, $4::uuid, $3, n.kind, n.state, n.record_id, n.version, n.source_hash, n.intent, n.input,
        n.seed, n.started_ms, n.principal, n.client, n.parent_run_id, n.parent_call, n.options,
        ARRAY(SELECT jsonb_array_elements_text(n.approved_tools)), n.result, n.error, n.logs, now()
      FROM p, jsonb_to_record(j->'run') AS n(kind text, state text, record_id uuid, version integer, source_hash text,
        intent text, input jsonb, seed bigint, started_ms bigint, principal text, client text, parent_run_id uuid,
        parent_call text, options jsonb, approved_tools jsonb, result jsonb, error jsonb, logs jsonb)
      ON CONFLICT (org, id) DO UPDATE SET state = excluded.state, result = excluded.result, error = excluded.error,
        logs = excluded.logs, finished_at = now(), owner = NULL, lease_until = NULL, approved_tools = excluded.approved_tools,
        input = excluded.input),
journal AS (
      INSERT INTO run_journal AS w (org, run_id, seq, kind, payload)
      SELECT $2, $4::uuid, 0, 'batch', $8::jsonb FROM p WHERE j->>'hasEntries' = 'true'
      ON CONFLICT (org, run_id, seq) DO UPDATE SET payload = excluded.payload),
    superseded AS (DELETE FROM run_journal WHERE org = $2 AND run_id = $4::uuid AND seq > 0),
    trace AS (
      INSERT INTO execution_trace (org, run_id, project, record_id, version, parent_run_id, success, error, executed_path,
        decisions, task_summaries, duration_ms)
      SELECT $2, $4::uuid, $3, n.record_id, n.version, n.parent_run_id, n.success, n.error, n.path,
        n.decisions, n.tasks, n.duration_ms
      FROM p, jsonb_to_record(j->'trace') AS n(record_id uuid, version integer, parent_run_id uuid, success boolean,
        error jsonb, path jsonb, decisions jsonb, tasks jsonb, duration_ms double precision)
      ON CONFLICT (org, run_id) DO NOTHING),
    results AS (
      INSERT INTO task_results (org, project, run_id, task_id, principal_id, tool_id, status, preview, result, result_bytes, expires_at)
      SELECT $2, $3, $4::uuid, t.id, $9::uuid, t.tool, t.status, t.preview, convert_to(t.result, 'UTF8'),
        octet_length(t.result), now() + make_interval(secs => $7::double precision)
      FROM p, jsonb_to_recordset(j->'results') AS t(id text, tool text, status text, preview text, result text)
      ON CONFLICT (org, run_id, task_id) DO NOTHING),
    stat AS (
      INSERT INTO capability_stat AS s (org, record_id, usage_count, success_count, total_latency_ms, last_used_at)
      SELECT $2, n.record_id, 1, CASE WHEN n.success THEN 1 ELSE 0 END, n.duration_ms::bigint, now()
      FROM p, jsonb_to_record(j->'trace') AS n(record_id uuid, success boolean, duration_ms double precision)
      WHERE j->>'counts' = 'true'
      ON CONFLICT (org, record_id) DO UPDATE SET usage_count = s.usage_count + 1,
        success_count = s.success_count + excluded.success_count,
        total_latency_ms = s.total_latency_ms + excluded.total_latency_ms, last_used_at = now()),
    path AS (
      INSERT INTO capability_path AS s (org, record_id, version, path_key, path, count, success_count, total_ms)
      SELECT $2, n.record_id, n.version, md5(n.path::text), ARRAY(SELECT jsonb_array_elements_text(n.path)), 1,
        CASE WHEN n.success THEN 1 ELSE 0 END, n.duration_ms
      FROM p, jsonb_to_record(j->'trace')
        AS n(record_id uuid, version integer, path jsonb, success boolean, duration_ms double precision)
      WHERE j->>'counts' = 'true'
      ON CONFLICT (org, record_id, version, path_key) DO UPDATE SET count = s.count + 1, last_at = now(),
        success_count = s.success_count + excluded.success_count, total_ms = s.total_ms + excluded.total_ms),
    decided AS (
      INSERT INTO capability_decision AS s (org, record_id, version, node_id, outcome, count, success_count)
      SELECT $2, $5::uuid, $6::integer, d.node, d.outcome, d.count,
        CASE WHEN j->'trace'->>'success' = 'true' THEN d.count ELSE 0 END
      FROM p, jsonb_to_recordset(j->'decisions') AS d(node text, outcome text, count bigint)
      WHERE j->>'counts' = 'true'
      ON CONFLICT (org, record_id, version, node_id, outcome) DO UPDATE SET count = s.count + excluded.count,
        success_count = s.success_count + excluded.success_count),
    edges AS (
      INSERT INTO tool_edge AS s (org, project, from_id, to_id, edge_type, source, observed_count)
      SELECT $2, $3, e.from_id, e.to_id, e.type, 'observed', 1
      FROM p, jsonb_to_recordset(j->'edges') AS e(from_id text, to_id text, type text)
      ON CONFLICT (org, project, from_id, to_id, edge_type) DO UPDATE SET observed_count = s.observed_count + 1,
        source = 'observed', last_at = now()),
    tallied AS (
      INSERT INTO discovery_tally AS s (org, project, subject, tag, uses, successes)
      SELECT $2, $3, u.subject, tag, u.uses, u.successes
      FROM p, jsonb_to_recordset(j->'uses') AS u(subject text, uses bigint, successes bigint),
        jsonb_array_elements_text(j->'tags') AS tag
      WHERE j->>'counts' = 'true' ORDER BY u.subject, tag
      ON CONFLICT (org, project, subject, tag) DO UPDATE SET uses = s.uses + excluded.uses,
        successes = s.successes + excluded.successes, changed_at = clock_timestamp()),
    intended AS (
      INSERT INTO discovery_intent AS s (org, project, subject, intent_hash, intent)
      SELECT $2, $3, u.subject, md5(n.intent), n.intent
      FROM p, jsonb_to_recordset(j->'uses') AS u(subject text, successes bigint),
        jsonb_to_record(j->'run') AS n(state text, intent text)
      WHERE n.state = 'succeeded' AND n.intent <> '' AND u.successes > 0 ORDER BY u.subject
      ON CONFLICT (org, project, subject, intent_hash) DO UPDATE SET uses = s.uses + 1,
        changed_at = clock_timestamp()),
    nested AS (
      INSERT INTO capability_dependency AS s (org, from_record_id, from_version, to_record_id, to_version, observed_count)
      SELECT $2, $5::uuid, $6::integer, n.id, CASE WHEN j->'trace'->>'success' = 'true' THEN n.version END, 1
      FROM p, jsonb_to_recordset(j->'nested') AS n(id uuid, version integer)
      ON CONFLICT (org, from_record_id, from_version, to_record_id) DO UPDATE SET observed_count = s.observed_count + 1,
        to_version = coalesce(s.to_version, excluded.to_version)),
    activated AS (
      UPDATE capability_records SET state = 'active', updated_at = now()
      FROM p WHERE org = $2 AND id = $5::uuid AND state = 'draft' AND j->>'activate' = 'true' RETURNING id),
    bumped AS (
      INSERT INTO scope_version AS s (org, project) SELECT $2, $3 FROM activated
      ON CONFLICT (org, project) DO UPDATE SET version = s.version + 1, changed_at = now() RETURNING version)
    SELECT pg_notify('${SCOPE_CHANNEL}', jsonb_build_object('org', $2, 'project', $3)::text) FROM bumped`;

/** The values of the statement that ends a run; as JSON they are the same. */
export type FinishStatement = readonly (string | number | null)[];

export function toStatement(finished: FinishedRun): FinishStatement {
  const { run, resultSeconds } = finished;
  const { org, project } = run.scope;
  const payload = toJson(toPayload(finished));
  const journal = toBatch(finished.entries);
  return [payload, org, project, run.id, run.recordId, run.version, resultSeconds, journal, principalId(run)];
}

/**
 * Run, journal, trace, results, counters and graph in one statement: one round trip, one commit, and
 * never one without the others. A draft that became a capability is told of, as every change of a scope is.
 * A run ends once: the second time nothing happens.
 */
export async function carryOut(
  client: Pick<DatabaseClient, "executePrepared">,
  statement: FinishStatement,
): Promise<void> {
  await client.executePrepared("finish-run", FINISH_RUN, statement);
}

function toPayload(finished: FinishedRun): Record<string, unknown> {
  const { run, state, result, error, logs, trace, durationMs } = finished;
  const success = state === "succeeded";
  return {
    // A run that somebody broke off says nothing about the program.
    counts: state !== "cancelled",
    activate: success && finished.activate,
    run: {
      kind: run.kind,
      state,
      record_id: run.recordId,
      version: run.version,
      source_hash: run.sourceHash,
      intent: run.intent,
      input: run.args,
      seed: run.seed,
      started_ms: run.startedMs,
      principal: run.principal,
      client: run.client,
      parent_run_id: run.parent?.runId,
      parent_call: run.parent?.call,
      options: run.options,
      approved_tools: run.approvedTools,
      result,
      error,
      logs,
    },
    hasEntries: finished.entries.length > 0,
    trace: {
      record_id: run.recordId,
      version: run.version,
      parent_run_id: run.parent?.runId,
      success,
      error,
      path: trace.path,
      decisions: trace.decisions,
      tasks: trace.tasks.map(({ result: _full, ...task }) => task),
      duration_ms: durationMs,
    },
    results: packResults(trace),
    decisions: countDecisions(trace),
    edges: finished.edges.map(({ from, to, type }) => ({ from_id: from, to_id: to, type })),
    nested: finished.calledCapabilities,
    uses: countUses(finished),
    // Under the empty tag stands what holds in every context.
    tags: [...new Set(["", ...(run.options.contextTags ?? [])])],
  };
}

interface Use {
  readonly subject: string;
  readonly uses: number;
  readonly successes: number;
}

/** How the capability and each tool it called fared. */
function countUses({ run, state, trace }: FinishedRun): Use[] {
  const calls = trace.tasks.filter(({ kind, status }) => kind === "tool" && status !== "unfinished");
  const tools = [...Map.groupBy(calls, ({ tool }) => tool)].map(([subject, group]) => ({
    subject,
    uses: group.length,
    successes: group.filter(({ status }) => status === "success").length,
  }));
  return [{ subject: `cap:${run.recordId}`, uses: 1, successes: state === "succeeded" ? 1 : 0 }, ...tools];
}

/** The owner of the gateway is nobody in particular. */
function principalId({ principal }: Run): string | null {
  return principal === OWNER ? null : principal;
}

interface ResultRow {
  readonly id: string;
  readonly tool: string | null;
  readonly status: string;
  readonly preview: string;
  readonly result: string;
}

/** Short results share a row: most have a few words, and each row costs more than they do. */
function packResults({ tasks }: Trace): ResultRow[] {
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
