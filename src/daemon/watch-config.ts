import { type Stats, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/load-config.ts";
import { toErrorReport } from "../errors.ts";
import type { Logger } from "../log.ts";

export interface ConfigWatch {
  /** What the daemon was started with. */
  readonly config: Config;
  /** Reads all sources again, as at the start. */
  readonly reload: () => Config;
  /** Takes over what counts at once. */
  readonly apply: (config: Config) => Promise<void>;
  readonly log: Logger;
}

/** Looking is cheap, and unlike a notification it also works for files that editors replace. */
const LOOK_EVERY_MS = 500;

/** What counts at once; all else waits for the next start. */
const LIVE_SETTINGS: readonly (keyof Config)[] = ["mcpServers", "gateway", "results"];

/** Takes over changed settings while the daemon runs. A file that cannot be used changes nothing. */
export function watchConfig({ config, reload, apply, log }: ConfigWatch): AsyncDisposable {
  const file = config.file ?? join(config.home, "pml.json");
  let current = config;
  let applying = Promise.resolve();

  const takeOver = async (): Promise<void> => {
    try {
      const next = reload();
      const waiting = changedSettings(config, next);
      if (waiting.length > 0) log.warn({ file, settings: waiting }, "these settings count from the next start on");
      if (LIVE_SETTINGS.every((key) => isDeepStrictEqual(current[key], next[key]))) return;
      current = next;
      await apply(next);
      log.info({ file }, "the changed configuration was taken over");
    } catch (error) {
      const { message, hint } = toErrorReport(error);
      log.error({ file, error: message, hint }, "the changed configuration cannot be used; nothing was changed");
    }
  };
  const onChange = ({ nlink }: Stats, before: Stats): void => {
    if (nlink === 0 && before.nlink === 0) return; // watching a file that does not exist begins with such a call
    if (nlink === 0) log.warn({ file }, "the configuration file is gone; nothing was changed");
    else applying = applying.then(takeOver); // one after the other, the last one counts
  };
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, onChange);
  applying = takeOver(); // it may have changed while the daemon started
  return {
    async [Symbol.asyncDispose]() {
      unwatchFile(file, onChange);
      await applying; // or it would start servers after all others have ended
    },
  };
}

function changedSettings(before: Config, after: Config): string[] {
  const keys = Object.keys(after) as (keyof Config)[];
  return keys.filter((key) => !LIVE_SETTINGS.includes(key) && !isDeepStrictEqual(before[key], after[key]));
}
