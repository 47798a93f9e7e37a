import { sql, type UpdateObject } from "kysely";
import type { Naming } from "../registry/registry.ts";
import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import type { Tables } from "../db/tables.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { RunError } from "../contract/execute.ts";
import type { RUN_STATES } from "../contract/runs.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { JournalEntry } from "./journal.ts";

export type RunState = (typeof RUN_STATES)[number];
type RunKind = "code" | "dag" | "tool";

/** Everything another process needs to resume a run, except for its journal. */
export interface RunRecord {
  readonly id: string;
  readonly scope: Scope;
  readonly kind: RunKind;
  readonly recordId: string;
  readonly version: number;
  readonly sourceHash: string;
  readonly intent: string;
  readonly args: JsonObject;
  readonly seed: number;
  readonly startedMs: number;
  readonly principal: string;
  readonly client: string | undefined;
  readonly parent: { readonly runId: string; readonly call: string } | undefined;
  readonly options: RunOptions;
  /** Grants from the rules or a person. */
  readonly approvedTools: readonly string[];
}

export interface Run extends RunRecord {
  /** Hides what is secret in the run wherever it is stored or shown. */
  readonly secrets: RunSecrets;
}

export interface RunOptions {
  readonly perLayerValidation?: boolean;
  readonly timeoutMs?: number;
  readonly contextTags?: readonly string[];
  /** Name for the program if it succeeds. */
  readonly naming?: Naming;
  /** Secrets of the arguments and the program, while the run is unfinished. */
  readonly sealed?: string;
  /** JSON of the submitted text, its secrets hidden; stays after the end where the stored capability has another. */
  readonly text?: string;
}

/** A run as it is stored, with its secrets hidden. */
export interface StoredRun extends RunRecord {
  readonly state: RunState;
  /** The process that runs it. */
  readonly owner: string | undefined;
  readonly approvalId: string | undefined;
  readonly result: JsonValue | undefined;
  readonly error: RunError | undefined;
  readonly logs: readonly LogLine[];
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
}

export interface LogLine {
  readonly level: string;
  readonly text: string;
}

export interface Lease {
  readonly owner: string;
  readonly seconds: number;
}

/** Parks the run until a decision. Writes the journal entries as one row. */
export async function parkRun(
  db: Db,
  run: RunRecord,
  { entries, approvalId }: { readonly entries: readonly JournalEntry[]; readonly approvalId?: string | undefined },
): Promise<void> {
  const { scope, parent } = run;
  await sql`
    WITH run AS (
      INSERT INTO execution_run (org, id, project, kind, state, record_id, version, source_hash, intent, input, seed,
        started_ms, principal, client, parent_run_id, parent_call, options, approved_tools, approval_id, created_at)
      VALUES (${scope.org}, ${run.id}, ${scope.project}, ${run.kind}, 'parked', ${run.recordId}, ${run.version},
        ${run.sourceHash}, ${run.intent}, ${toJson(storableArgs(run.args))}::jsonb, ${run.seed}, ${run.startedMs}, ${run.principal},
        ${run.client ?? null}, ${parent?.runId ?? null}, ${parent?.call ?? null}, ${toJson(run.options)}::jsonb,
        ${[...run.approvedTools]}, ${approvalId ?? null}, to_timestamp(${run.startedMs} / 1000.0))
      ON CONFLICT (org, id) DO UPDATE SET state = 'parked', owner = NULL, lease_until = NULL,
        approval_id = excluded.approval_id, approved_tools = excluded.approved_tools)
    INSERT INTO run_journal (org, run_id, seq, kind, payload)
    SELECT ${scope.org}, ${run.id}::uuid, ${entries[0]?.seq ?? 0}, 'batch', ${toBatch(entries)}::jsonb
    WHERE ${entries.length > 0}
    ON CONFLICT (org, run_id, seq) DO NOTHING`.execute(db);
}

export async function readJournal(db: Db, { org }: Scope, runId: string): Promise<JournalEntry[]> {
  const rows = await db
    .selectFrom("run_journal")
    .select("payload")
    .where("org", "=", org)
    .where("run_id", "=", runId)
    .orderBy("seq")
    .execute();
  return rows.flatMap(({ payload }) => fromBatch(payload));
}

/** Reads the journals of finished runs below a run. */
export async function readNestedJournals(db: Db, { id, scope: { org } }: RunRecord): Promise<JournalEntry[]> {
  const { rows } = await sql<{ payload: unknown }>`
    WITH RECURSIVE nested AS (
      SELECT id, finished_at FROM execution_run WHERE org = ${org} AND parent_run_id = ${id}
      UNION ALL
      SELECT r.id, r.finished_at FROM execution_run r JOIN nested n ON r.parent_run_id = n.id WHERE r.org = ${org})
    SELECT payload FROM run_journal j JOIN nested n ON j.run_id = n.id
    WHERE j.org = ${org} AND n.finished_at IS NOT NULL`.execute(db);
  return rows.flatMap(({ payload }) => fromBatch(payload));
}

export async function findRun(db: Db, { org, project }: Scope, id: string): Promise<StoredRun | undefined> {
  const row = await db
    .selectFrom("execution_run")
    .selectAll()
    .where("org", "=", org)
    .where("project", "=", project)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && toRun(row);
}

export interface RunFilter {
  readonly states?: readonly RunState[];
  readonly recordId?: string;
  /** Only the runs of this principal. */
  readonly principal?: string;
  readonly limit: number;
}

/** Newest first; excludes nested runs. */
export async function listRuns(db: Db, { org, project }: Scope, filter: RunFilter): Promise<StoredRun[]> {
  let query = db
    .selectFrom("execution_run")
    .selectAll()
    .where("org", "=", org)
    .where("project", "=", project)
    .where("parent_run_id", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(filter.limit);
  if (filter.states !== undefined) query = query.where("state", "in", [...filter.states]);
  if (filter.recordId !== undefined) query = query.where("record_id", "=", filter.recordId);
  if (filter.principal !== undefined) query = query.where("principal", "=", filter.principal);
  return (await query.execute()).map(toRun);
}

/** Claims runs of a scope whose process is gone. On the embedded engine any other owner is gone. */
export async function claimAbandonedRuns(
  db: Db,
  { org, project }: Scope,
  { owner, seconds, waitForLease }: Lease & { readonly waitForLease: boolean },
): Promise<StoredRun[]> {
  const rows = await db
    .updateTable("execution_run")
    .set({ owner, lease_until: sql`now() + make_interval(secs => ${seconds})` })
    .where("org", "=", org)
    .where("project", "=", project)
    .where("state", "=", "running")
    .where("parent_run_id", "is", null)
    .where((where) => where.or([where("owner", "is", null), where("owner", "!=", owner)]))
    .where(waitForLease ? sql<boolean>`(lease_until IS NULL OR lease_until < now())` : sql<boolean>`true`)
    .returningAll()
    .execute();
  return rows.map(toRun);
}

/** Claims a parked run for this process; returns false if it is not parked. */
export function claimParkedRun(db: Db, run: StoredRun, { owner, seconds }: Lease): Promise<boolean> {
  return updateParkedRun(db, run, {
    state: "running",
    owner,
    lease_until: sql`now() + make_interval(secs => ${seconds})`,
  });
}

/** Lets a parked run wait for another approval; returns false if it is not parked. */
export function pointAtApproval(db: Db, run: StoredRun, approvalId: string): Promise<boolean> {
  return updateParkedRun(db, run, { approval_id: approvalId });
}

/** Changes a run in one step if it is still parked: another process may have claimed it. */
async function updateParkedRun(
  db: Db,
  { id, scope: { org } }: StoredRun,
  change: UpdateObject<Tables, "execution_run">,
): Promise<boolean> {
  const changed = await db
    .updateTable("execution_run")
    .set(change)
    .where("org", "=", org)
    .where("id", "=", id)
    .where("state", "=", "parked")
    .returning("id")
    .executeTakeFirst();
  return changed !== undefined;
}

export async function renewLeases(db: Db, { owner, seconds }: Lease): Promise<void> {
  await db
    .updateTable("execution_run")
    .set({ lease_until: sql`now() + make_interval(secs => ${seconds})` })
    .where("state", "=", "running")
    .where("owner", "=", owner)
    .execute();
}

/** A cheap test before the pattern; hits are rare. */
const ESCAPE = String.raw`\u`;
/** Escapes that jsonb rejects: NUL and lone surrogates, as JSON.stringify writes them. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

/** Arguments that jsonb would change are stored as a text of JSON: they were approved exactly as they are. */
export function storableArgs(args: JsonObject): JsonValue {
  const text = JSON.stringify(args);
  return text.includes(ESCAPE) && text.search(UNSTORABLE) !== -1 ? text : args;
}

function fromStoredArgs(input: unknown): JsonObject {
  return (typeof input === "string" ? JSON.parse(input) : (input ?? {})) as JsonObject;
}

export function toJson(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.includes(ESCAPE) ? text.replace(UNSTORABLE, String.raw`$1\ufffd`) : text;
}

/** Serialises journal entries; as a JSON string if jsonb would reject them, since replay needs every character. */
export function toBatch(entries: readonly JournalEntry[]): string {
  const text = JSON.stringify({ entries });
  return text.includes(ESCAPE) && text.search(UNSTORABLE) !== -1 ? JSON.stringify({ exact: text }) : text;
}

function fromBatch(payload: unknown): JournalEntry[] {
  const { exact, entries } = payload as { exact?: string; entries?: JournalEntry[] };
  return exact === undefined ? (entries ?? []) : (JSON.parse(exact) as { entries: JournalEntry[] }).entries;
}

interface StoredRunRow {
  id: string;
  org: string;
  project: string;
  kind: RunKind;
  state: RunState;
  record_id: string | null;
  version: number | null;
  source_hash: string | null;
  intent: string | null;
  input: unknown;
  seed: number;
  started_ms: number;
  principal: string | null;
  client: string | null;
  parent_run_id: string | null;
  parent_call: string | null;
  options: unknown;
  approved_tools: string[] | null;
  owner: string | null;
  approval_id: string | null;
  result: unknown;
  error: unknown;
  logs: unknown;
  created_at: Date;
  finished_at: Date | null;
}

function toRun(row: StoredRunRow): StoredRun {
  return {
    id: row.id,
    scope: { org: row.org, project: row.project },
    kind: row.kind,
    state: row.state,
    ...identityOf(row),
    intent: row.intent ?? "",
    args: fromStoredArgs(row.input),
    seed: row.seed,
    startedMs: row.started_ms,
    principal: row.principal ?? "",
    client: row.client ?? undefined,
    parent: row.parent_run_id === null ? undefined : { runId: row.parent_run_id, call: row.parent_call ?? "" },
    options: row.options ?? {},
    approvedTools: row.approved_tools ?? [],
    owner: row.owner ?? undefined,
    approvalId: row.approval_id ?? undefined,
    ...outcomeOf(row),
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
  };
}

function identityOf(row: StoredRunRow): Pick<Run, "recordId" | "version" | "sourceHash"> {
  return { recordId: row.record_id ?? "", version: row.version ?? 1, sourceHash: row.source_hash ?? "" };
}

function outcomeOf(row: StoredRunRow): Pick<StoredRun, "result" | "error" | "logs"> {
  return {
    result: (row.result ?? undefined) as JsonValue | undefined,
    error: (row.error ?? undefined) as RunError | undefined,
    logs: (row.logs ?? []) as LogLine[],
  };
}
