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

/** What a kill -9 can lose: calls of the last moments before it, never ones before that. */
const WRITE_AFTER_MS = 100;
/** A pause as long as this is a good moment: in the middle of several calls, writing takes a processor from the next one. */
const PAUSE_MS = 20;
const ROWS_PER_WRITE = 1_000;
const MOST_KEPT = 20_000;

/** Keeps the database out of the way of calls: their rows are written in batches, shortly after. */
export function createUsageLog({ client, scope, log }: UsageLogParts): UsageLog {
  let waiting: ToolUse[] = [];
  let timer: NodeJS.Timeout | undefined;
  let latest = 0;
  let writing = Promise.resolve();

  const write = async (): Promise<void> => {
    timer = undefined; // not before: until then this write waits for the one under way, and no other does
    // What comes meanwhile waits in its turn: under load there would be no end, and a statement for each call.
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
      latest = 0; // it has fired, and is not to be started again
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
