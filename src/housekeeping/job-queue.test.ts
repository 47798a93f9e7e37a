import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import type { DatabaseClient } from "../db/client.ts";
import { type Job, type JobQueue, startJobs } from "./job-queue.ts";

const yearly = "0 0 1 1 *";

function start(client: DatabaseClient, jobs: Job[]): Promise<JobQueue> {
  return startJobs({ client, jobs, onError: (error) => expect.fail(error.message) });
}

describe.each(engines)("the job queue on %s", (engine) => {
  test("runs a triggered job", async () => {
    await using client = await openTestDatabase(engine);
    let runs = 0;
    await using queue = await start(client, [{ name: "count", cron: yearly, run: async () => void (runs += 1) }]);
    await queue.trigger("count");
    await expect.poll(() => runs).toBe(1);
  });

  test("runs a job once, however many gateways share the database", async () => {
    await using client = await openTestDatabase(engine);
    let runs = 0;
    const job = { name: "shared", cron: yearly, run: async () => void (runs += 1) };
    await using one = await start(client, [job]);
    await using _two = await start(client, [job]);
    await one.trigger("shared");
    await expect.poll(() => runs).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(runs).toBe(1);
  });

  test("reuses the queues of an earlier start and updates a changed schedule", async () => {
    await using client = await openTestDatabase(engine);
    const readTimes = async (): Promise<unknown[]> =>
      (await client.execute("SELECT name, cron, options, updated_on FROM pgboss.schedule ORDER BY name")).rows;
    const [same, moved, other] = ["same", "moved", "other"].map((name) => ({
      name,
      cron: yearly,
      run: async () => undefined,
    }));
    await (await start(client, [same!, moved!, other!]))[Symbol.asyncDispose]();
    // Simulates a version with other options.
    await client.execute(`UPDATE pgboss.schedule SET options = '{}' WHERE name = 'other'`);
    const before = await readTimes();
    let runs = 0;
    const later = [{ ...moved!, cron: "0 0 2 1 *" }, { ...same!, run: async () => void (runs += 1) }, other!];
    await using queue = await start(client, later);
    const [movedNow, otherNow, sameNow] = await readTimes();
    expect(movedNow).toMatchObject({ name: "moved", cron: "0 0 2 1 *" });
    expect(otherNow).toMatchObject({ name: "other", options: { missed: "once" } });
    expect(sameNow).toEqual(before[2]);
    await queue.trigger("same");
    await expect.poll(() => runs).toBe(1);
  });

  test("retries a failed job", async () => {
    await using client = await openTestDatabase(engine);
    let runs = 0;
    const run = async (): Promise<void> => {
      runs += 1;
      if (runs === 1) throw new Error("not this time");
    };
    await using queue = await start(client, [{ name: "shaky", cron: yearly, run }]);
    await queue.trigger("shaky");
    await expect.poll(() => runs, { timeout: 20_000 }).toBe(2);
  });
});
