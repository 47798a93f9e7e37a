import type { DatabaseClient } from "../db/client.ts";
import { migrate } from "../db/migrate.ts";
import { openPostgres } from "../db/open-postgres.ts";

/** For work on a server's database without a daemon; any number of processes may open that. */
export async function withServerDatabase<T>(url: string, work: (client: DatabaseClient) => Promise<T>): Promise<T> {
  await using client = await openPostgres({ url, poolSize: 2 });
  await migrate(client.db);
  return await work(client);
}
