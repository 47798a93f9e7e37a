import type { Config } from "../config/load-config.ts";
import type { DatabaseClient } from "../db/client.ts";
import { dropOldIntents, dropOldVectors } from "../discovery/embedding/vector-store.ts";
import { dropExpiredMemos } from "../execution/memo-store.ts";
import { expireParkedRuns } from "../execution/parked-store.ts";
import { dropOldDrafts, dropOldResults, dropOldRuns } from "../execution/run-retention-store.ts";
import type { Job } from "../housekeeping/job-queue.ts";
import { dropExpiredResults, vacuumTables } from "../housekeeping/result-retention-store.ts";
import type { Permissions } from "../permissions/permissions.ts";

interface JobParts {
  readonly client: DatabaseClient;
  readonly permissions: Permissions;
  readonly runs: Config["runs"];
  readonly backup: () => Promise<unknown>;
}

/** Search uses a few intents of a tool, and all that memory holds of a capability. */
const INTENTS_KEPT = { tool: 50, capability: 500 };
/** A vector that is still needed is computed again, within minutes. */
const VECTOR_DAYS = 180;

export function housekeepingJobs({ client, permissions, runs, backup }: JobParts): Job[] {
  const everywhere: Job[] = [
    { name: "approvals.expire", cron: "*/5 * * * *", run: () => permissions.expireApprovals() },
    { name: "approvals.forget", cron: "40 2 * * *", run: () => permissions.dropApprovals(runs.approvalDays) },
    { name: "runs.release", cron: "*/10 * * * *", run: () => expireParkedRuns(client.db, runs.parkedDays) },
    { name: "memos.expire", cron: "20 * * * *", run: () => dropExpiredMemos(client.db) },
    { name: "runs.expire", cron: "45 2 * * *", run: () => dropOldRuns(client.db, runs.keepDays) },
    { name: "results.forget", cron: "55 2 * * *", run: () => dropOldResults(client.db, runs.keepDays) },
    { name: "drafts.expire", cron: "50 2 * * *", run: () => dropOldDrafts(client.db, runs.draftDays) },
    { name: "intents.forget", cron: "5 3 * * *", run: () => dropOldIntents(client.db, INTENTS_KEPT) },
    { name: "vectors.forget", cron: "10 3 * * 0", run: () => dropOldVectors(client.db, VECTOR_DAYS) },
    { name: "results.expire", cron: "*/10 * * * *", run: () => dropExpiredResults(client.db) },
  ];
  // A PostgreSQL server vacuums itself, and its administrator backs it up.
  const embeddedOnly: Job[] = [
    { name: "storage.vacuum", cron: "15 3 * * *", run: () => vacuumTables(client.db) },
    { name: "storage.backup", cron: "30 3 * * *", run: async () => void (await backup()) },
  ];
  return client.engine === "pglite" ? [...everywhere, ...embeddedOnly] : everywhere;
}
