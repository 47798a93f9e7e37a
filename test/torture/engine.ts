import { Kysely, PGliteDialect } from "kysely";
import { setEngineFlags } from "../../src/base/engine-flags.ts";
import type { Db } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { dataDirectory, openEmbedded } from "../../src/db/open-embedded.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import type { Tables } from "../../src/db/tables.ts";

/** `ours` is what the product opens; `default` is PGlite as it comes, for the control. */
export const engineKinds = ["ours", "default"] as const;
export type EngineKind = (typeof engineKinds)[number];

export interface OpenEngine extends AsyncDisposable {
  readonly db: Db;
  readonly lost?: Promise<Error>;
}

/** Opens and migrates the database of a PML_HOME, which this process then owns. */
export async function openEngine(home: string, kind: EngineKind): Promise<OpenEngine> {
  if (kind === "ours") setEngineFlags();
  await using stack = new AsyncDisposableStack();
  const ownership = stack.use(acquireOwnership(home));
  const opened: OpenEngine = kind === "ours" ? await openEmbedded(ownership) : await openDefault(home);
  const { db, lost } = stack.use(opened);
  void lost?.then(endProcess);
  await migrate(db);
  const open = stack.move();
  return { db, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** As the daemon does: with its database gone a process has nothing left to do. */
function endProcess(error: Error): never {
  console.error(error.message);
  process.exit(1);
}

async function openDefault(home: string): Promise<OpenEngine> {
  // Loaded here only, since every round of every other case would pay for it.
  const { PGlite } = await import("@electric-sql/pglite");
  const pglite = await PGlite.create(dataDirectory(home));
  return {
    db: new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) }),
    [Symbol.asyncDispose]: () => pglite.close(),
  };
}
