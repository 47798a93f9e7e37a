import type { Registry } from "../registry/registry.ts";
import type { Scope } from "../registry/scope.ts";
import type { Config } from "../config/load-config.ts";
import { Curator } from "../naming/curation/curator.ts";
import { watchUnnamed } from "../naming/curation/watch-unnamed.ts";
import type { DatabaseClient } from "../db/client.ts";
import type { EventBus } from "../base/events.ts";
import type { Job, JobQueue } from "../housekeeping/job-queue.ts";
import { openModel } from "../naming/model/open-model.ts";
import type { Logger } from "../base/log.ts";

export interface CurationParts {
  readonly config: Config;
  readonly scope: Scope;
  readonly client: DatabaseClient;
  readonly registry: Registry;
  readonly events: EventBus;
  readonly log: Logger;
}

export interface OpenCuration {
  readonly curator: Curator;
  /** Curates names every night, and on request. */
  readonly job: Job;
  /** Starts the job as soon as enough capabilities have no name. */
  watch(jobs: JobQueue): Disposable;
}

export function openCuration({ config, scope, client, registry, events, log }: CurationParts): OpenCuration {
  // Each scope has its own job, which only a gateway of that scope may run.
  const name = `curation.suggest.${scope.org}.${scope.project}`;
  const { minConfidence, sampling, auto, afterUnnamed } = config.curation;
  const curator = new Curator({
    client,
    registry,
    events,
    minConfidence,
    sampling,
    model: openModel(config.curation),
  });
  return {
    curator,
    job: { name, cron: "40 2 * * *", run: () => curator.curateInBackground(scope, { apply: auto }) },
    watch: (jobs) =>
      watchUnnamed({
        db: client.db,
        scope,
        events,
        afterUnnamed,
        onEnough: () => jobs.trigger(name),
        onError: (error) => log.warn({ error: String(error) }, "counting unnamed capabilities failed"),
      }),
  };
}
