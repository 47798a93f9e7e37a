import { isDeepStrictEqual } from "node:util";
import { PgBoss } from "pg-boss";
import type { DatabaseClient } from "../db/client.ts";

/** Scheduled work, run once per cluster however many gateways share the database. */
export interface Job {
  readonly name: string;
  /** Five fields, UTC. Occurrences missed while nothing ran are made up for once. */
  readonly cron: string;
  run(): Promise<void>;
}

export interface JobQueueOptions {
  readonly client: DatabaseClient;
  readonly jobs: readonly Job[];
  readonly onError: (error: Error) => void;
}

export interface JobQueue extends AsyncDisposable {
  /** Runs a job soon, on the first gateway that fetches it. */
  trigger(name: string): Promise<void>;
}

/** Polling interval: new jobs are announced, retries are not. */
const BACKSTOP_SECONDS = 5;

export async function startJobs({ client, jobs, onError }: JobQueueOptions): Promise<JobQueue> {
  const boss = new PgBoss({
    db: {
      executeSql: (text, values) => client.execute(text, values),
      listen: (channel, onNotification, onReconnect) => client.listen(channel, { onNotification, onReconnect }),
    },
    backend: client.engine,
    useListenNotify: true,
  });
  boss.on("error", onError);
  await boss.start();
  await prepareQueues(boss, jobs);
  for (const job of jobs)
    await boss.work(job.name, { notifyPollingIntervalSeconds: BACKSTOP_SECONDS }, () => job.run());
  return {
    trigger: async (name) => void (await boss.send(name)),
    [Symbol.asyncDispose]: () => boss.stop({ graceful: true, timeout: 5_000 }),
  };
}

const SCHEDULE_OPTIONS = { missed: "once" } as const;

/** Skips queues and schedules that exist: each would cost a transaction and a write at every start. */
async function prepareQueues(boss: PgBoss, jobs: readonly Job[]): Promise<void> {
  const queues = new Set((await boss.getQueues()).map(({ name }) => name));
  const schedules = new Map((await boss.getSchedules()).map((schedule) => [schedule.name, schedule]));
  for (const { name, cron } of jobs) {
    const known = schedules.get(name);
    const isSame = known?.cron === cron && isDeepStrictEqual(known.options, SCHEDULE_OPTIONS);
    if (!queues.has(name)) await boss.createQueue(name, { policy: "singleton", notify: true });
    if (!isSame) await boss.schedule(name, cron, {}, SCHEDULE_OPTIONS);
  }
}
