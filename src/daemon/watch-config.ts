import { type Stats, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { App } from "../app/app.ts";
import type { Config } from "../config/load-config.ts";
import { toErrorReport } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { permissionsFiles } from "../permissions/read-rules.ts";

export interface ConfigWatch {
  /** What the daemon was started with. */
  readonly config: Config;
  /** Reads all sources again, as at the start. */
  readonly reload: () => Config;
  /** What takes over changed servers and permissions. */
  readonly app: Pick<App, "configureServers" | "permissions">;
  /** Takes over what clients see. */
  readonly configureGateway: (config: Config) => void;
  readonly log: Logger;
}

/** Looking is cheap, and unlike a notification it also works for files that editors replace. */
const LOOK_EVERY_MS = 500;

/**
 * Takes over changed servers and permissions while the daemon runs. A file that cannot be used changes no
 * server, but until it can be used nothing is permitted: it may be about to forbid something.
 */
export function watchConfig(watch: ConfigWatch): AsyncDisposable {
  const { config, log } = watch;
  const file = config.file ?? join(config.home, "pml.json");
  const takeOver = createTakeOver(watch, file);
  let applying = Promise.resolve();
  const onChange = ({ nlink }: Stats, before: Stats): void => {
    if (nlink === 0 && before.nlink === 0) return; // watching a file that does not exist begins with such a call
    if (nlink === 0) log.warn({ file }, "the configuration file is gone; nothing was changed");
    else applying = applying.then(takeOver.everything); // one after the other, the last one counts
  };
  const onPermissions = ({ nlink }: Stats, before: Stats): void => {
    if (nlink > 0 || before.nlink > 0) applying = applying.then(takeOver.permissions);
  };
  const watched: [string, (now: Stats, before: Stats) => void][] = [
    [file, onChange],
    ...permissionsFiles(config).map((each): [string, typeof onPermissions] => [each, onPermissions]),
  ];
  for (const [path, listener] of watched) watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, listener);
  applying = takeOver.everything(); // it may have changed while the daemon started
  return {
    async [Symbol.asyncDispose]() {
      for (const [path, listener] of watched) unwatchFile(path, listener);
      await applying; // or it would start servers after all others have ended
    },
  };
}

interface TakeOver {
  readonly everything: () => Promise<void>;
  readonly permissions: () => void;
}

function createTakeOver({ config, reload, app, configureGateway, log }: ConfigWatch, file: string): TakeOver {
  const { permissions } = app;
  let current = config;
  let readable = true;
  const readAgain = (): boolean => {
    try {
      current = reload();
      readable = true;
    } catch (error) {
      readable = false;
      permissions.denyAll(error);
      const { message, hint } = toErrorReport(error);
      log.error({ file, error: message, hint }, "the changed configuration cannot be used; nothing was changed");
    }
    return readable;
  };
  const takeOverPermissions = (): void => {
    if (!readable) return;
    permissions.configure(current);
    const { problem } = permissions;
    if (problem !== undefined) log.error({ error: problem.message, hint: problem.hint }, "nothing is permitted");
  };
  return {
    permissions: takeOverPermissions,
    async everything() {
      const { mcpServers } = current;
      if (!readAgain()) return;
      takeOverPermissions();
      const waiting = changedSettings(config, current);
      if (waiting.length > 0) log.warn({ file, settings: waiting }, "these settings count from the next start on");
      configureGateway(current);
      if (isDeepStrictEqual(mcpServers, current.mcpServers)) return;
      try {
        await app.configureServers(current);
        log.info({ file }, "the changed servers were taken over");
      } catch (error) {
        log.error({ file, error: toErrorReport(error).message }, "the changed servers could not be taken over");
      }
    },
  };
}

const TAKEN_OVER: readonly (keyof Config)[] = ["mcpServers", "gateway", "results", "permissions", "approvals"];

function changedSettings(before: Config, after: Config): string[] {
  const keys = Object.keys(after) as (keyof Config)[];
  return keys.filter((key) => !TAKEN_OVER.includes(key) && !isDeepStrictEqual(before[key], after[key]));
}
