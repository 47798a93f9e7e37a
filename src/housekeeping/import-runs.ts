import { OWNER } from "../registry/scope.ts";
import type { ImportPlan } from "./import-plan.ts";
import {
  type JournalBatch,
  journalBatch,
  type JournalRow,
  type ResultRow,
  type RunRow,
  type TraceRow,
} from "./import-rows.ts";
import type { PreparedRow } from "./prepared-rows.ts";

/**
 * The row of a finished run. It belongs to the owner of the gateway, who imports it: a file cannot give runs to other
 * principals, nor say what a person approved.
 */
export function prepareRun(plan: ImportPlan, row: RunRow): PreparedRow | undefined {
  const record = plan.find(row.record_id);
  const version = record?.versions.get(row.version);
  if (record === undefined || version === undefined) return undefined;
  const createdAt = plan.past(row.created_at);
  return {
    ...plan.scope,
    id: plan.idOf(row.id),
    parent_run_id: row.parent_run_id && plan.idOf(row.parent_run_id),
    parent_call: row.parent_call,
    record_id: record.id,
    version: row.version,
    source_hash: version.hash,
    intent: row.intent,
    input: row.input,
    state: row.state,
    kind: row.kind,
    seed: row.seed,
    started_ms: Math.min(row.started_ms, plan.now.getTime()),
    principal: OWNER,
    client: row.client,
    options: row.options,
    result: row.result,
    error: row.error,
    logs: row.logs,
    created_at: createdAt,
    finished_at: plan.past(row.finished_at ?? createdAt),
    imported_at: plan.now.toISOString(),
  };
}

export function prepareJournal(plan: ImportPlan, { payload, ...row }: JournalRow): PreparedRow | undefined {
  const batch = "exact" in payload ? readBatch(payload.exact) : payload;
  if (batch === undefined) {
    plan.note("A journal could not be read and was left out");
    return undefined;
  }
  const moved = { entries: batch.entries.map((entry) => moveEntry(plan, entry)) };
  return {
    org: plan.scope.org,
    run_id: plan.idOf(row.run_id),
    seq: row.seq,
    kind: row.kind,
    payload: "exact" in payload ? { exact: JSON.stringify(moved) } : moved,
    written_at: plan.past(row.written_at),
  };
}

function readBatch(text: string): JournalBatch | undefined {
  try {
    return journalBatch.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A nested run is named by its id. */
function moveEntry(plan: ImportPlan, entry: JournalBatch["entries"][number]): JournalBatch["entries"][number] {
  if (entry.kind !== "call" || entry.target.kind !== "capability") return entry;
  return { ...entry, target: { ...entry.target, runId: plan.idOf(entry.target.runId) } };
}

/** Capability, version and outcome of a trace are those of its run, and are filled in when it is written. */
export function prepareTrace(plan: ImportPlan, row: TraceRow): PreparedRow {
  return {
    ...plan.scope,
    run_id: plan.idOf(row.run_id),
    error: row.error,
    executed_path: row.executed_path,
    decisions: row.decisions,
    task_summaries: row.task_summaries,
    duration_ms: row.duration_ms,
    created_at: plan.past(row.created_at),
  };
}

export function prepareResult(plan: ImportPlan, row: ResultRow, lifeSeconds: number): PreparedRow {
  const latest = plan.now.getTime() + lifeSeconds * 1000;
  return {
    ...plan.scope,
    run_id: plan.idOf(row.run_id),
    task_id: row.task_id,
    tool_id: row.tool_id,
    content_type: row.content_type,
    status: row.status,
    preview: row.preview,
    result: row.result,
    result_bytes: row.result === null || row.result === undefined ? row.result_bytes : (row.result.length - 2) / 2,
    created_at: plan.past(row.created_at),
    expires_at: Date.parse(row.expires_at) > latest ? new Date(latest).toISOString() : row.expires_at,
  };
}
