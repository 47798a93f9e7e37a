import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import type { Logger } from "../base/log.ts";
import type { Engine } from "./run-engine.ts";
import { claimAbandonedRuns, renewLeases } from "./run-store.ts";
import { LEASE_SECONDS } from "./runner.ts";

export interface RecoveryOptions {
  readonly db: Db;
  /** Gateways of other scopes have other servers, and go on with their own runs. */
  readonly scope: Scope;
  readonly engine: Engine;
  /** Other processes may be alive and working on theirs. */
  readonly shared: boolean;
  readonly log: Logger;
}

const LOOK_EVERY_MS = 5_000;

/**
 * Goes on with runs whose process died, at start and, where several processes share the database, from
 * time to time. Nobody waits for their answers, but what they do and how they end is kept.
 */
export function recoverRuns({ db, scope, engine, shared, log }: RecoveryOptions): AsyncDisposable {
  const ending = new AbortController();
  const lease = { owner: engine.runner.owner, seconds: LEASE_SECONDS };
  const resumeAbandoned = async (): Promise<void> => {
    for (const run of await claimAbandonedRuns(db, scope, { ...lease, waitForLease: shared })) {
      log.info({ run: run.id, intent: run.intent }, "going on with a run that was interrupted");
      const caller = { principal: run.principal, client: run.client };
      engine
        .continueRun(run.scope, run.id, { caller, signal: ending.signal })
        .then(({ status }) => log.info({ run: run.id, status }, "the interrupted run was gone on with"))
        .catch((error: unknown) => log.error({ run: run.id, error: String(error) }, "the run cannot be gone on with"));
    }
  };
  const look = async (): Promise<void> => {
    await renewLeases(db, lease);
    if (shared) await resumeAbandoned();
  };
  const report = (error: unknown): void => log.warn({ error: String(error) }, "looking for interrupted runs failed");
  let working = resumeAbandoned().catch(report);
  const timer = setInterval(() => {
    working = working.then(look).catch(report);
  }, LOOK_EVERY_MS).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await working;
    },
  };
}
