import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../test/support/postgres-server.ts";
import { fillNames } from "./names/fill.ts";
import { measureGateway } from "./names/gateway.ts";
import { measureRegistry } from "./names/registry.ts";
import { type NamesPlace, openPlace } from "./names/place.ts";
import type { Benchmark, BenchSession } from "./support/benchmark.ts";

const EMBEDDED = "embedded";
const SERVER = "PostgreSQL";
const COUNTS = [10_000, 100_000] as const;

/** Measures how long it takes to resolve, list and change names when there are very many of them. */
export const names: Benchmark = {
  title: "names of capabilities",
  columns: [EMBEDDED, SERVER],
  async run(session) {
    const folder = await mkdtemp(join(tmpdir(), "pml-bench-"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const server = stack.use(await startPostgres());
    await measurePlace(session, { column: EMBEDDED, home: join(folder, "embedded"), databaseUrl: undefined });
    const databaseUrl = server.url("postgres");
    await measurePlace(session, { column: SERVER, home: join(folder, "server"), databaseUrl });
    session.note("Through a gateway: over HTTP with the SDK's client, whose own work is in the figures.");
  },
};

async function measurePlace(session: BenchSession, place: NamesPlace): Promise<void> {
  const memory: number[] = [];
  for (const count of COUNTS) {
    session.signal.throwIfAborted();
    session.progress(`${place.column}: ${count} capabilities`);
    {
      await using opened = await openPlace(place);
      await fillNames(opened.client, count);
      await measureRegistry(session, { column: place.column, db: opened.client.db, count });
    }
    memory.push(await measureGateway(session, { ...place, count }));
  }
  const [few = 0, many = 0] = memory;
  const grown = (many - few) / ((COUNTS[1] - COUNTS[0]) / 10_000);
  session.record({ row: "memory of the gateway per 10,000 names", unit: "MB", column: place.column, value: grown });
}
