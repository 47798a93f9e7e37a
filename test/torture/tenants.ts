/** Lets tenants of one database ask for each other's records, runs and files, and reads every answer. */
import { startPostgres } from "../support/postgres-server.ts";
import { Random } from "../support/random.ts";
import { TenantStorm } from "../support/tenant-storm.ts";
import type { TortureCase } from "./torture-case.ts";

export const tenants: TortureCase = {
  name: "tenants",
  promise: "gateways of other scopes on one database learn and change nothing that is not shared with them",
  defaultRounds: 20_000,
  run: async ({ rounds, seed, say }) => {
    await using server = await startPostgres();
    await using storm = await TenantStorm.start(new Random(seed), server.url("postgres"));
    const { operations, problems } = await storm.run(rounds, say);
    const table = Object.entries(operations)
      .toSorted(([, a], [, b]) => b - a)
      .map(([operation, times]) => ({ operation, times }));
    return { holds: problems.length === 0, problems, table };
  },
};
