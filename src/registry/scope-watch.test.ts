import { describe, expect, test } from "vitest";
import { createServerDatabase, engines, openTestDatabase } from "../../test/support/databases.ts";
import type { DatabaseClient } from "../db/client.ts";
import { migrate } from "../db/migrate.ts";
import { openPostgres } from "../db/open-postgres.ts";
import type { Scope } from "./scope.ts";
import { bumpScope } from "./scope-version-store.ts";
import { watchScopes } from "./scope-watch.ts";

const scope: Scope = { org: "acme", project: "shop" };
const NEVER_MS = 1_000_000;

function rethrow(error: unknown): never {
  throw error;
}

async function watch(client: DatabaseClient, pollMs: number): Promise<{ seen: Scope[] } & AsyncDisposable> {
  const seen: Scope[] = [];
  const watching = await watchScopes({ client, onChange: (changed) => seen.push(changed), onError: rethrow, pollMs });
  return { seen, [Symbol.asyncDispose]: () => watching[Symbol.asyncDispose]() };
}

async function bump(client: DatabaseClient): Promise<void> {
  await client.db.transaction().execute((tx) => bumpScope(tx, scope));
}

describe.each(engines)("watchScopes on %s", (engine) => {
  test("reports each change once, by notification", async () => {
    await using client = await openTestDatabase(engine);
    await using watching = await watch(client, NEVER_MS);
    await bump(client);
    await expect.poll(() => watching.seen).toEqual([scope]);
    await bump(client);
    await expect.poll(() => watching.seen).toEqual([scope, scope]);
  });

  test("reports a change without a notification, by polling", async () => {
    await using client = await openTestDatabase(engine);
    await using watching = await watch(client, 50);
    await client.db.insertInto("scope_version").values(scope).execute();
    await expect.poll(() => watching.seen).toEqual([scope]);
  });

  test("reports neither earlier changes nor rolled back ones", async () => {
    await using client = await openTestDatabase(engine);
    await bump(client);
    await using watching = await watch(client, 20);
    const work = client.db.transaction().execute(async (tx) => {
      await bumpScope(tx, scope);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(watching.seen).toEqual([]);
  });
});

test("watchScopes hears of another gateway's change, also after its listening connection broke", async () => {
  const url = await createServerDatabase();
  await using here = await openPostgres({ url, poolSize: 2 });
  await using there = await openPostgres({ url, poolSize: 2 });
  await migrate(here.db);
  await using watching = await watch(here, NEVER_MS);
  await bump(there);
  await expect.poll(() => watching.seen.length).toBe(1);
  await there.execute(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
  );
  await bump(there);
  await expect.poll(() => watching.seen.length).toBe(2);
});
