import type { Scope } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import type { Logger } from "../base/log.ts";
import type { Engine } from "./run-engine.ts";
import { claimAbandonedRuns, renewLeases } from "./run-store.ts";
import { LEASE_SECONDS } from "./runner.ts";

export interface RecoveryOptions {
  readonly db: Db;
  /** Only this scope's runs: gateways of other scopes have other servers and recover their own. */
  readonly scope: Scope;
  readonly engine: Engine;
  /** True if other live processes may own runs in the same database. */
  readonly shared: boolean;
  readonly log: Logger;
}

const RENEW_INTERVAL_MS = 5_000;

/**
 * Resumes runs whose process died: at start, and periodically if several processes share the database. No caller
 * waits for their answers, but their effects and outcomes are stored.
 */
export function recoverRuns({ db, scope, engine, shared, log }: RecoveryOptions): AsyncDisposable {
  const ending = new AbortController();
  const lease = { owner: engine.runner.owner, seconds: LEASE_SECONDS };
  const resumeAbandoned = async (): Promise<void> => {
    for (const run of await claimAbandonedRuns(db, scope, { ...lease, waitForLease: shared })) {
      log.info({ run: run.id, intent: run.intent }, "resuming an interrupted run");
      const caller = { principal: run.principal, client: run.client };
      engine
        .continueRun(run.scope, run.id, { caller, signal: ending.signal })
        .then(({ status }) => log.info({ run: run.id, status }, "the interrupted run was resumed"))
        .catch((error: unknown) =>
          log.error({ run: run.id, error: String(error) }, "the interrupted run cannot be resumed"),
        );
    }
  };
  const renewAndResume = async (): Promise<void> => {
    await renewLeases(db, lease);
    if (shared) await resumeAbandoned();
  };
  const report = (error: unknown): void => log.warn({ error: String(error) }, "looking for interrupted runs failed");
  let working = resumeAbandoned().catch(report);
  const timer = setInterval(() => {
    working = working.then(renewAndResume).catch(report);
  }, RENEW_INTERVAL_MS).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await working;
    },
  };
}
