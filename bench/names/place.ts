import { setEngineFlags } from "../../src/base/engine-flags.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";

/** The database of the names: in the home of a gateway, or on a server. */
export interface NamesPlace {
  readonly column: string;
  readonly home: string;
  readonly databaseUrl: string | undefined;
}

export async function openPlace({
  home,
  databaseUrl,
}: NamesPlace): Promise<{ readonly client: DatabaseClient } & AsyncDisposable> {
  setEngineFlags();
  await using opening = new AsyncDisposableStack();
  const client = opening.use(
    databaseUrl === undefined
      ? await openEmbedded(opening.use(acquireOwnership(home)))
      : await openPostgres({ url: databaseUrl, poolSize: 2 }),
  );
  await migrate(client.db);
  const open = opening.move();
  return { client, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
