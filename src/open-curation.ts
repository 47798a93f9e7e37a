import type { Registry } from "./capabilities/registry.ts";
import type { Scope } from "./capabilities/scope.ts";
import type { Config } from "./config/load-config.ts";
import { Curator } from "./curation/curator.ts";
import { watchUnnamed } from "./curation/watch-unnamed.ts";
import type { DatabaseClient } from "./db/client.ts";
import type { EventBus } from "./events.ts";
import type { Job } from "./housekeeping/job-queue.ts";
import { openModel } from "./llm/open-model.ts";
import type { Logger } from "./log.ts";

export interface CurationParts {
  readonly config: Config;
  readonly scope: Scope;
  readonly client: DatabaseClient;
  readonly registry: Registry;
  readonly events: EventBus;
}

export function openCurator({ config: { curation }, client, registry, events }: CurationParts): Curator {
  const { minConfidence } = curation;
  return new Curator({ client, registry, events, minConfidence, model: openModel(curation) });
}

const JOB = "curation.suggest";

/** What PML does about names by itself: at night, or as soon as there are enough without one. */
export function curationJob(curator: Curator, { config, scope }: CurationParts): Job {
  const { auto } = config.curation;
  return { name: JOB, cron: "40 2 * * *", run: () => curator.runByItself(scope, { apply: auto }) };
}

export interface TriggerParts extends Pick<CurationParts, "config" | "scope" | "client" | "events"> {
  readonly trigger: (job: string) => Promise<void>;
  readonly log: Logger;
}

export function watchForCuration({ config, scope, client, events, trigger, log }: TriggerParts): Disposable {
  const { afterUnnamed } = config.curation;
  return watchUnnamed({
    db: client.db,
    scope,
    events,
    afterUnnamed,
    onEnough: () => trigger(JOB),
    onError: (error) => log.warn({ error: String(error) }, "counting unnamed capabilities failed"),
  });
}
