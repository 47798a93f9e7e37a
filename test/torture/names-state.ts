import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { setEngineFlags } from "../../src/base/engine-flags.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import type { Place } from "./switched-daemon.ts";

/** Everything that a change of names touches, without what differs from one time to the next. */
export interface NamesState {
  readonly facts: unknown;
  /** How often the scope was said to have changed. */
  readonly told: number;
}

/** Nobody else may have the place open. */
export async function readNamesState({ home, database }: Place): Promise<NamesState> {
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

/** What is in `state` is what was before, or what is there when nobody is killed; anything else is neither. */
export function sideOf(state: NamesState, before: NamesState, after: NamesState): "before" | "after" | undefined {
  if (isDeepStrictEqual(state.facts, before.facts)) return "before";
  // a change that nobody is told of would be served the old way by other gateways
  return isDeepStrictEqual(state.facts, after.facts) && state.told > before.told ? "after" : undefined;
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
    (SELECT coalesce(sum(version), 0)::int FROM scope_version) AS told`.execute(db);
  const [state] = rows;
  if (state === undefined) throw new Error("the state of names gave no row");
  return state;
}
