import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { packageRoot } from "../../src/base/package-info.ts";
import { startPostgres } from "../../test/support/postgres-server.ts";
import { BARE_PG, type Column, PML_POSTGRES } from "./engine.ts";

/** A PostgreSQL server and a folder on the same disk, both removed afterwards. */
export interface Workplace extends AsyncDisposable {
  readonly serverVersion: string;
  /** Returns an empty location: a path that does not exist, or the URL of an empty database. */
  newLocation(column: Column): Promise<string>;
  /** Returns a path for a file. */
  newPath(name: string): string;
}

export async function openWorkplace(): Promise<Workplace> {
  // Builds the template from these sources: without it a first start would not be what users have.
  execFileSync(process.execPath, [join(packageRoot, "scripts", "build-template.ts")], { stdio: "inherit" });
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "pml-bench-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const server = opening.use(await startPostgres());
  const admin = new pg.Client({ connectionString: server.url("postgres") });
  // The server closes every connection when it stops, which is no error.
  admin.on("error", () => undefined);
  await admin.connect();
  opening.defer(() => admin.end());
  const { rows } = await admin.query<{ server_version: string }>("SHOW server_version");
  let made = 0;
  const opened = opening.move();
  return {
    serverVersion: rows[0]?.server_version ?? "unknown",
    async newLocation(column) {
      made += 1;
      if (column !== PML_POSTGRES && column !== BARE_PG) return join(folder, `database-${made}`);
      await admin.query(`CREATE DATABASE bench_${made}`);
      return server.url(`bench_${made}`);
    },
    newPath(name) {
      made += 1;
      return join(folder, `${made}-${name}`);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
