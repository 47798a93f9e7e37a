import { sql } from "kysely";
import { CAPABILITY_PREFIX } from "../../catalogue/tool-id.ts";
import type { Db } from "../../db/client.ts";
import type { Scope } from "../../registry/scope.ts";
import type { ProgramCall } from "./call-labels.ts";

/** An intent of a run that succeeded. */
export interface LearnedIntent {
  /** `cap:` and the record's id. */
  readonly subject: string;
  readonly intent: string;
  readonly uses: number;
}

export interface LearnedIntents {
  /** Clock of the database. */
  readonly readAt: Date;
  /** In the order in which they were learned. */
  readonly intents: readonly LearnedIntent[];
}

/** A transaction that began before a read may commit after it, so each read overlaps the previous one. */
const OVERLAP_SECONDS = 10;

/** Reads the intents that were added or used again, and all intents of some subjects. */
export async function readLearnedIntents(
  db: Db,
  { org, project }: Scope,
  { since, subjects }: { readonly since: Date | undefined; readonly subjects: readonly string[] },
): Promise<LearnedIntents> {
  const { rows } = await sql<{ read_at: Date; intents: [string, string, number][] }>`
    SELECT clock_timestamp() AS read_at,
      (SELECT coalesce(jsonb_agg(jsonb_build_array(subject, intent, uses) ORDER BY learned_at, intent_hash, subject), '[]')
        FROM discovery_intent WHERE org = ${org} AND project = ${project} AND subject LIKE ${`${CAPABILITY_PREFIX}%`}
          AND (changed_at > ${since ?? new Date(0)}::timestamptz - make_interval(secs => ${OVERLAP_SECONDS})
            OR subject = ANY(${since === undefined ? [] : [...subjects]}::text[]))) AS intents`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the query for intents returned no row");
  return {
    readAt: row.read_at,
    intents: row.intents.map(([subject, intent, uses]) => ({ subject, intent, uses })),
  };
}

/** Reads the calls in the current versions of capabilities, by record id. */
export async function readProgramCalls(
  db: Db,
  org: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly ProgramCall[]>> {
  const { rows } = await sql<{ id: string; calls: [string, string[]][] }>`
    SELECT r.id, (SELECT coalesce(jsonb_agg(jsonb_build_array(n->>'tool',
        (SELECT coalesce(jsonb_agg(k ORDER BY k), '[]') FROM jsonb_object_keys(coalesce(n->'arguments', '{}')) AS k))), '[]')
      FROM jsonb_array_elements(v.structure->'nodes') AS n WHERE n->>'type' = 'task') AS calls
    FROM capability_records r
    JOIN capability_versions v ON v.org = r.org AND v.record_id = r.id AND v.version = r.version
    WHERE r.org = ${org} AND r.id = ANY(${[...ids]}::uuid[])`.execute(db);
  return new Map(
    rows.map(({ id, calls }) => [id, calls.map(([tool, argumentNames]) => ({ tool, argumentNames }))] as const),
  );
}
