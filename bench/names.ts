import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { CapabilityRegistry } from "../src/capabilities/capability-registry.ts";
import { OWNER } from "../src/capabilities/scope.ts";
import type { DatabaseClient } from "../src/db/client.ts";
import { migrate } from "../src/db/migrate.ts";
import { openEmbedded } from "../src/db/open-embedded.ts";
import { openPostgres } from "../src/db/open-postgres.ts";
import { acquireOwnership } from "../src/db/owner-lock.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import type { Benchmark, Goal, Session } from "./support/benchmark.ts";
import { percentile } from "./support/statistics.ts";

const EMBEDDED = "embedded";
const SERVER = "PostgreSQL";
const asker = { scope: { org: "bench", project: "names" }, principal: OWNER };
const CACHED_NAMES = 1_000;
const CACHED_ROUNDS = 20;
const MISSES = 300;
const PAGES = 60;

/** How long it takes to find out what a name stands for, and to list names, with very many of them. */
export const names: Benchmark = {
  title: "names of capabilities",
  columns: [EMBEDDED, SERVER],
  async run(session) {
    await using opened = await openBoth();
    for (const [column, client] of opened.clients) {
      for (const count of [10_000, 100_000]) {
        session.progress(`${column}: ${count} capabilities`);
        await fill(client, count);
        await measure(session, { column, client, count });
        if (session.signal.aborted) return;
      }
    }
  },
};

async function openBoth(): Promise<{ readonly clients: readonly [string, DatabaseClient][] } & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "pml-bench-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const server = opening.use(await startPostgres());
  const ownership = opening.use(acquireOwnership(folder));
  const embedded = opening.use(await openEmbedded(ownership));
  const postgres = opening.use(await openPostgres({ url: server.url("postgres"), poolSize: 2 }));
  for (const { db } of [embedded, postgres]) await migrate(db);
  const open = opening.move();
  return {
    clients: [
      [EMBEDDED, embedded],
      [SERVER, postgres],
    ],
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Up to this many, with one alias each. */
async function fill({ db }: DatabaseClient, count: number): Promise<void> {
  const { org, project } = asker.scope;
  const { rows } = await sql<{ there: number }>`SELECT count(*) AS there FROM capability_records`.execute(db);
  const from = rows[0]?.there ?? 0;
  const id = sql`('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const each = sql`FROM generate_series(${from + 1}::int, ${count}::int) AS n`;
  await sql`INSERT INTO capability_records (org, project, id, fqdn, display_name, namespace, action, hash, state, description, created_at)
    SELECT ${org}, ${project}, ${id}, 'bench.names.fs.action_' || n || '.abcd', 'fs:action_' || n, 'fs', 'action_' || n, 'abcd',
      'active', 'Does number ' || n, now() - n * interval '1 second' ${each}`.execute(db);
  await sql`INSERT INTO capability_versions (org, record_id, version, source_kind, code_snippet, source_hash, structure, parameters_schema)
    SELECT ${org}, ${id}, 1, 'code', 'return ' || n, md5(n::text), '{"nodes":[],"edges":[]}',
      '{"type":"object","properties":{"path":{"type":"string"}}}' ${each}`.execute(db);
  await sql`INSERT INTO capability_stat (org, record_id, usage_count, success_count)
    SELECT ${org}, ${id}, n % 1000, n % 1000 ${each}`.execute(db);
  await sql`INSERT INTO capability_aliases (org, project, alias, kind, record_id)
    SELECT ${org}, ${project}, 'fs:old_' || n, 'name', ${id} ${each}`.execute(db);
  await sql`ANALYZE`.execute(db);
}

interface Measured {
  readonly column: string;
  readonly client: DatabaseClient;
  readonly count: number;
}

async function measure(session: Session, { column, client, count }: Measured): Promise<void> {
  const registry = new CapabilityRegistry({
    db: client.db,
    policy: () => ({ strict: false, reserveDays: 30 }),
    prepare: () => {
      throw new Error("nothing is saved here");
    },
  });
  const record = (what: string, unit: string, values: readonly number[], goal: Goal): void => {
    const row = `${count}: ${what}`;
    session.record({ row: `${row}, p50`, unit, column, value: percentile(values, 0.5) });
    session.record({ row: `${row}, p95`, unit, column, value: percentile(values, 0.95), goal });
  };
  const number = (): number => 1 + Math.floor(Math.random() * count);
  for (const [what, prefix] of [
    ["name, not cached", "fs:action_"],
    ["former name, not cached", "cap:fs:old_"],
  ] as const) {
    const misses = await times(MISSES, () => registry.resolve(asker, `${prefix}${number()}`));
    record(what, "ms", misses, { atMost: 10 });
  }
  const known = Array.from({ length: CACHED_NAMES }, () => `fs:action_${number()}`);
  for (const name of known) await registry.resolve(asker, name);
  const cached = (
    await times(CACHED_ROUNDS * CACHED_NAMES, (index) => registry.resolve(asker, known[index % CACHED_NAMES] ?? ""))
  ).map((ms) => ms * 1000);
  record("name, cached", "µs", cached, { atMost: 5 });
  for (const sortBy of ["name", "created", "usage"] as const) {
    let cursor: string | undefined;
    const pages = await times(PAGES, async () => {
      const page = await registry.list(asker, {
        limit: 50,
        sortBy,
        namedOnly: true,
        ...(cursor === undefined ? {} : { cursor }),
      });
      cursor = page.nextCursor;
    });
    record(`page of 50 by ${sortBy}`, "ms", pages, { atMost: 20 });
  }
}

async function times(count: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  for (let index = 0; index < count; index++) {
    const started = performance.now();
    await work(index);
    durations.push(performance.now() - started);
  }
  return durations;
}
