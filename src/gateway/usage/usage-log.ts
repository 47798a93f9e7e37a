import type { Principal } from "../../auth/principal.ts";
import type { Scope } from "../../registry/scope.ts";
import type { DatabaseClient } from "../../db/client.ts";
import type { Logger } from "../../base/log.ts";
import { insertPrincipals, insertToolUses, type ToolUse } from "./usage-store.ts";

export interface UsageLog extends AsyncDisposable {
  record(use: ToolUse): void;
  /** Stores the principal's name before its first call, so that records can tell who made them. */
  introduce(principal: Principal | undefined): Promise<void>;
}

export interface UsageLogParts {
  readonly client: Pick<DatabaseClient, "db" | "executePrepared">;
  readonly scope: Scope;
  readonly log: Logger;
}

/** Bounds the records that a kill -9 can lose. */
const WRITE_AFTER_MS = 100;
/** Writing between calls would take a processor from the next one, so it waits for a pause of this length. */
const PAUSE_MS = 20;
const ROWS_PER_WRITE = 1_000;
const MOST_KEPT = 20_000;

/** Writes records behind the calls, in batches. */
export function createUsageLog({ client, scope, log }: UsageLogParts): UsageLog {
  let waiting: ToolUse[] = [];
  let timer: NodeJS.Timeout | undefined;
  let latest = 0;
  let writing = Promise.resolve();

  const write = async (): Promise<void> => {
    timer = undefined; // only now: until then this write is the one that is queued
    // Records that arrive meanwhile go into the next batch; otherwise each call would be a statement under load.
    for (let left = waiting.length; left > 0; left -= ROWS_PER_WRITE) {
      const batch = waiting.slice(0, Math.min(left, ROWS_PER_WRITE));
      await insertToolUses(client, scope, batch);
      waiting = waiting.slice(batch.length);
    }
  };
  const schedule = (afterMs: number): void => {
    if (timer !== undefined) {
      if (performance.now() < latest) timer.refresh();
      return;
    }
    latest = performance.now() + WRITE_AFTER_MS - PAUSE_MS;
    timer = setTimeout(() => {
      latest = 0; // the timer has fired and is not started again
      writing = writing.then(write).catch((error: unknown) => {
        log.error(
          { error: String(error), waiting: waiting.length },
          "tool usage could not be written; it is tried again",
        );
        if (waiting.length > MOST_KEPT) waiting = waiting.slice(-MOST_KEPT);
        schedule(WRITE_AFTER_MS);
      });
    }, afterMs);
  };
  const introduced = new Set<string>();
  return {
    async introduce(principal) {
      if (principal === undefined || introduced.has(principal.id)) return;
      try {
        await insertPrincipals(client.db, scope.org, [principal]);
        introduced.add(principal.id);
      } catch (error) {
        log.warn({ error: String(error) }, "a caller's name could not be written; it is tried again with its call");
      }
    },
    record(use) {
      waiting.push(use);
      schedule(PAUSE_MS);
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await writing;
      await write().catch((error: unknown) =>
        log.error({ error: String(error) }, "the last tool usage could not be written"),
      );
    },
  };
}
