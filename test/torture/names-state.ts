import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { setEngineFlags } from "../../src/base/engine-flags.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import type { DaemonLocation } from "./switched-daemon.ts";

/** All state that a change of names touches, without values that differ between runs. */
export interface NamesState {
  readonly facts: unknown;
  /** Version of the scope, which counts its notifications. */
  readonly scopeVersion: number;
}

/** Reads the state; no process may have the database open. */
export async function readNamesState({ home, database }: DaemonLocation): Promise<NamesState> {
  setEngineFlags();
  await using stack = new AsyncDisposableStack();
  return await readState(
    stack.use(
      database === undefined
        ? await openEmbedded(stack.use(acquireOwnership(home)))
        : await openPostgres({ url: database, poolSize: 1 }),
    ),
  );
}

/** Compares a state with those before and after an undisturbed change; undefined if it equals neither. */
export function sideOf(state: NamesState, before: NamesState, after: NamesState): "before" | "after" | undefined {
  if (isDeepStrictEqual(state.facts, before.facts)) return "before";
  // Other gateways would keep serving the old state without a notification.
  return isDeepStrictEqual(state.facts, after.facts) && state.scopeVersion > before.scopeVersion ? "after" : undefined;
}

async function readState({ db }: DatabaseClient): Promise<NamesState> {
  const { rows } = await sql<NamesState>`SELECT jsonb_build_object(
    'records', (SELECT jsonb_agg(jsonb_build_array(display_name, fqdn, state, version, version_tag, forked_from_fqdn, deleted_at IS NULL)
      ORDER BY display_name) FROM capability_records WHERE record_type = 'capability'),
    'versions', (SELECT jsonb_agg(jsonb_build_array(r.display_name, v.version, v.version_tag, v.source_hash) ORDER BY r.display_name, v.version)
      FROM capability_versions v JOIN capability_records r ON (r.org, r.id) = (v.org, v.record_id) WHERE record_type = 'capability'),
    'aliases', (SELECT jsonb_agg(jsonb_build_array(a.alias, a.kind, r.display_name) ORDER BY a.alias)
      FROM capability_aliases a JOIN capability_records r ON (r.org, r.id) = (a.org, a.record_id)),
    'renames', (SELECT jsonb_agg(jsonb_build_array(old_name, new_name) ORDER BY renamed_at) FROM capability_rename_history),
    'sources', (SELECT jsonb_agg(jsonb_build_array(s.source_hash, r.display_name, s.version) ORDER BY s.source_hash)
      FROM capability_source s JOIN capability_records r ON (r.org, r.id) = (s.org, s.record_id)),
    'calls', (SELECT count(*) FROM capability_dependency),
    'audit', (SELECT jsonb_agg(jsonb_build_array(action, subject) ORDER BY at, id) FROM audit_log WHERE action LIKE 'capability.%')) AS facts,
    (SELECT coalesce(sum(version), 0)::int FROM scope_version) AS "scopeVersion"`.execute(db);
  const [state] = rows;
  if (state === undefined) throw new Error("the query for the names returned no row");
  return state;
}
