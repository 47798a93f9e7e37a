/**
 * One change of the registry, for the torture of names. With a position it kills itself there, as hard as
 * can be: before and after every statement, and after the commit.
 *
 *     names-process.ts <home> <database URL or ""> <change> <position, 0 for none>
 */
import { sql } from "kysely";
import { CapabilityRegistry } from "../../src/capabilities/capability-registry.ts";
import { OWNER } from "../../src/capabilities/scope.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { PmlError } from "../../src/errors.ts";
import { AnalysedPrograms } from "../../src/execution/analysed-programs.ts";

const [home = "", database = "", change = "", position = "0"] = process.argv.slice(2);
const asker = { scope: { org: "torture", project: "names" }, principal: OWNER };
const analysed = new AnalysedPrograms({ all: [], version: 1, findById: () => undefined, findTool: () => undefined });

let passed = 0;
function step(): void {
  passed += 1;
  if (passed === Number(position)) process.kill(process.pid, "SIGKILL");
}

function createRegistry({ db }: DatabaseClient, counted: boolean): CapabilityRegistry {
  const counting = db.withPlugin({
    transformQuery({ node }) {
      step();
      return node;
    },
    async transformResult({ result }) {
      step();
      return result;
    },
  });
  return new CapabilityRegistry({
    db: counted ? counting : db,
    policy: () => ({ strict: false, reserveDays: 30 }),
    prepare: (code) => analysed.prepare(code),
  });
}

type Change = (registry: CapabilityRegistry) => Promise<unknown>;

const changes: Readonly<Record<string, Change>> = {
  async prepare(registry) {
    await registry.save(asker, { name: "fs:a", code: "return 'a'", versionTag: "v1.0.0" });
    await registry.save(asker, { name: "fs:b", code: "return 'b'", tags: ["io"] });
    await registry.rename(asker, { from: "fs:b", to: "fs:bb", via: "user" });
  },
  rename: (registry) => registry.rename(asker, { from: "fs:a", to: "fs:c", via: "user" }),
  fork: (registry) => registry.fork(asker, { source: "fs:a", name: "fs:d" }),
  merge: (registry) => registry.merge(asker, { sources: ["fs:a", "fs:bb"], name: "fs:e" }),
  version: (registry) => registry.save(asker, { name: "fs:a", code: "return 'a2'", onConflict: "version" }),
  archive: (registry) => registry.archive(asker, "fs:a"),
  race: (registry) => registry.save(asker, { name: "fs:race", code: `return ${process.pid}` }),
  look: async () => undefined,
};

/** Everything that a change of names touches, without what differs from one time to the next. */
async function look({ db }: DatabaseClient): Promise<unknown> {
  const { rows } = await sql<{ state: unknown }>`SELECT jsonb_build_object(
    'records', (SELECT jsonb_agg(jsonb_build_array(display_name, fqdn, state, version, version_tag, forked_from_fqdn, deleted_at IS NULL)
      ORDER BY display_name) FROM capability_records),
    'versions', (SELECT jsonb_agg(jsonb_build_array(r.display_name, v.version, v.version_tag, v.source_hash) ORDER BY r.display_name, v.version)
      FROM capability_versions v JOIN capability_records r ON r.id = v.record_id),
    'aliases', (SELECT jsonb_agg(jsonb_build_array(a.alias, a.kind, r.display_name) ORDER BY a.alias)
      FROM capability_aliases a JOIN capability_records r ON r.id = a.record_id),
    'renames', (SELECT jsonb_agg(jsonb_build_array(old_name, new_name) ORDER BY renamed_at) FROM capability_rename_history),
    'sources', (SELECT jsonb_agg(jsonb_build_array(s.source_hash, r.display_name, s.version) ORDER BY s.source_hash)
      FROM capability_source s JOIN capability_records r ON r.id = s.record_id),
    'calls', (SELECT count(*) FROM capability_dependency),
    'audit', (SELECT jsonb_agg(jsonb_build_array(action, subject) ORDER BY at, id) FROM audit_log),
    'told', (SELECT jsonb_agg(version) FROM scope_version)) AS state`.execute(db);
  return rows[0]?.state;
}

await using stack = new AsyncDisposableStack();
const client = stack.use(
  database === ""
    ? await openEmbedded(stack.use(acquireOwnership(home)))
    : await openPostgres({ url: database, poolSize: 2 }),
);
await migrate(client.db);
let refused: string | undefined;
await changes[change]?.(createRegistry(client, change !== "prepare")).catch((error: unknown) => {
  if (!(error instanceof PmlError)) throw error;
  refused = error.code;
});
const positions = passed + 1;
step();
console.log(JSON.stringify({ positions, refused, state: await look(client) }));
