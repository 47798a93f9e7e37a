import type { DatabaseClient } from "../db/client.ts";
import type { JournalEntry } from "./journal.ts";
import { type Lease, type RunRecord, storableArgs, toBatch, toJson } from "./run-store.ts";

/**
 * Leaves finished and parked runs as they are: notes may be applied again after a crash. A journal row holds one
 * write and has the number of its first entry.
 */
const NOTE_RUNS = `
    WITH p AS MATERIALIZED (
      SELECT n.*
      FROM jsonb_array_elements($1::jsonb) AS given(note),
        jsonb_to_record(note) AS n(org text, id uuid, seq integer, batch jsonb, begun jsonb)
      -- A subquery instead of a join: the prepared plan must not scan all runs once there are many.
      WHERE (SELECT finished_at FROM execution_run WHERE org = n.org AND id = n.id) IS NULL),
    run AS (
      INSERT INTO execution_run AS r (org, id, project, kind, state, record_id, version, source_hash, intent, input, seed,
        started_ms, principal, client, parent_run_id, parent_call, options, approved_tools, owner, lease_until, created_at)
      SELECT p.org, p.id, n.project, n.kind, 'running', n.record_id, n.version, n.source_hash, n.intent, n.input, n.seed,
        n.started_ms, n.principal, n.client, n.parent_run_id, n.parent_call, n.options,
        ARRAY(SELECT jsonb_array_elements_text(n.approved_tools)), n.owner, now() + make_interval(secs => n.lease_seconds),
        to_timestamp(n.started_ms / 1000.0)
      FROM p, jsonb_to_record(begun) AS n(project text, kind text, record_id uuid, version integer, source_hash text,
        intent text, input jsonb, seed bigint, started_ms bigint, principal text, client text, parent_run_id uuid,
        parent_call text, options jsonb, approved_tools jsonb, owner text, lease_seconds double precision)
      WHERE begun IS NOT NULL
      ON CONFLICT (org, id) DO UPDATE SET lease_until = excluded.lease_until, approved_tools = excluded.approved_tools
        WHERE r.state = 'running' AND r.owner = excluded.owner)
    INSERT INTO run_journal (org, run_id, seq, kind, payload)
    SELECT org, id, seq, 'batch', batch FROM p WHERE batch IS NOT NULL
    ON CONFLICT (org, run_id, seq) DO NOTHING`;

/**
 * Inserts running runs and appends to their journals.
 * @param notes as `describeNote` writes them, at most one with a lease per run
 */
export async function noteRuns(
  client: Pick<DatabaseClient, "executePrepared">,
  notes: readonly string[],
): Promise<void> {
  await client.executePrepared("note-runs", NOTE_RUNS, [`[${notes.join(",")}]`]);
}

/** Serialises journal entries and, with a lease, the run that starts with them, as a line of JSON. */
export function describeNote(run: RunRecord, entries: readonly JournalEntry[], lease?: Lease): string {
  const [first] = entries;
  const begun = lease && { ...describeRun(run), owner: lease.owner, lease_seconds: lease.seconds };
  const text = toJson({ org: run.scope.org, id: run.id, seq: first?.seq ?? 0, begun });
  return first === undefined ? text : `${text.slice(0, -1)},"batch":${toBatch(entries)}}`;
}

/** Columns of a run that are known from its start. */
export function describeRun(run: RunRecord): Record<string, unknown> {
  return {
    ...run.scope,
    id: run.id,
    kind: run.kind,
    record_id: run.recordId,
    version: run.version,
    source_hash: run.sourceHash,
    intent: run.intent,
    input: storableArgs(run.args),
    seed: run.seed,
    started_ms: run.startedMs,
    principal: run.principal,
    client: run.client,
    parent_run_id: run.parent?.runId,
    parent_call: run.parent?.call,
    options: run.options,
    approved_tools: run.approvedTools,
  };
}
