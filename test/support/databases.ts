import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { makeFolder } from "./folder.ts";

export { makeFolder } from "./folder.ts";

/** Every suite about storage runs on both. */
export const engines = ["pglite", "postgres"] as const;
export type TestEngine = (typeof engines)[number];

/** Creates an empty database on the test server and returns its URL. */
export async function createServerDatabase(): Promise<string> {
  const server = inject("postgresUrl");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await using admin = await openPostgres({ url: `${server}postgres`, poolSize: 1 });
  await admin.execute(`CREATE DATABASE ${name}`);
  return `${server}${name}`;
}

/** Opens a migrated, empty database of the engine; closed and removed at the end of the scope. */
export async function openTestDatabase(engine: TestEngine): Promise<DatabaseClient> {
  await using stack = new AsyncDisposableStack();
  const client = stack.use(engine === "pglite" ? await openEmbeddedForTest(stack) : await openServerForTest());
  await migrate(client.db);
  const open = stack.move();
  return { ...client, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

async function openEmbeddedForTest(stack: AsyncDisposableStack): Promise<DatabaseClient> {
  const home = stack.use(await makeFolder());
  return openEmbedded(stack.use(acquireOwnership(home.path)));
}

async function openServerForTest(): Promise<DatabaseClient> {
  return openPostgres({ url: await createServerDatabase(), poolSize: 5 });
}
