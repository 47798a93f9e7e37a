import { Kysely, PGliteDialect } from "kysely";
import { setEngineFlags } from "../../src/base/engine-flags.ts";
import type { Db } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { dataDirectory, openEmbedded } from "../../src/db/open-embedded.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import type { Tables } from "../../src/db/tables.ts";

/** `ours` is the product's engine; `default` is unmodified PGlite, as the control. */
export const engineKinds = ["ours", "default"] as const;
export type EngineKind = (typeof engineKinds)[number];

export interface TortureEngine extends AsyncDisposable {
  readonly db: Db;
  readonly lost?: Promise<Error>;
}

/** Opens and migrates the database of a PML_HOME, which this process then owns. */
export async function openEngine(home: string, kind: EngineKind): Promise<TortureEngine> {
  if (kind === "ours") setEngineFlags();
  await using stack = new AsyncDisposableStack();
  const ownership = stack.use(acquireOwnership(home));
  const opened: TortureEngine = kind === "ours" ? await openEmbedded(ownership) : await openDefault(home);
  const { db, lost } = stack.use(opened);
  void lost?.then(endProcess);
  await migrate(db);
  const open = stack.move();
  return { db, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** Exits as the daemon does: a process is useless without its database. */
function endProcess(error: Error): never {
  console.error(error.message);
  process.exit(1);
}

async function openDefault(home: string): Promise<TortureEngine> {
  // Imported lazily: every round of every other case would pay for it.
  const { PGlite } = await import("@electric-sql/pglite");
  const pglite = await PGlite.create(dataDirectory(home));
  return {
    db: new Kysely<Tables>({ dialect: new PGliteDialect({ pglite }) }),
    [Symbol.asyncDispose]: () => pglite.close(),
  };
}
