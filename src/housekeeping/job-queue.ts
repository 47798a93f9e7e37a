import { PgBoss } from "pg-boss";
import type { DatabaseClient } from "../db/client.ts";

/** Work that comes round by the clock, once per cluster however many gateways share the database. */
export interface Job {
  readonly name: string;
  /** Five fields, UTC. An occurrence missed while nothing ran is made up for once. */
  readonly cron: string;
  run(): Promise<void>;
}

export interface JobQueueOptions {
  readonly client: DatabaseClient;
  readonly jobs: readonly Job[];
  readonly onError: (error: Error) => void;
}

export interface JobQueue extends AsyncDisposable {
  /** Runs a job soon, on whichever gateway gets to it first. */
  trigger(name: string): Promise<void>;
}

/** New jobs are announced; a retry is not, so it waits this long at most. */
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
  for (const job of jobs) await startJob(boss, job);
  return {
    trigger: async (name) => void (await boss.send(name)),
    [Symbol.asyncDispose]: () => boss.stop({ graceful: true, timeout: 5_000 }),
  };
}

async function startJob(boss: PgBoss, job: Job): Promise<void> {
  await boss.createQueue(job.name, { policy: "singleton", notify: true });
  await boss.schedule(job.name, job.cron, {}, { missed: "once" });
  await boss.work(job.name, { notifyPollingIntervalSeconds: BACKSTOP_SECONDS }, () => job.run());
}
