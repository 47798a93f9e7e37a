import { type Stats, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { App } from "../app/app.ts";
import type { Config } from "../config/load-config.ts";
import { toErrorReport } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { trustStore } from "../config/trusted-files.ts";
import { permissionsFiles } from "../permissions/read-rules.ts";

export interface ConfigWatch {
  /** The configuration the daemon started with. */
  readonly config: Config;
  /** Reads all sources again, as at the start. */
  readonly reload: () => Config;
  /** Applies changed servers and permissions. */
  readonly app: Pick<App, "configureServers" | "permissions">;
  /** Applies the settings that clients see. */
  readonly configureGateway: (config: Config) => void;
  readonly log: Logger;
}

/** Polls: that is cheap and, unlike a notification, also works for files that editors replace. */
const POLL_MS = 500;

/**
 * Applies changed servers and permissions while the daemon runs. An invalid file changes no server, but suspends all
 * permissions until it is valid again: it may be about to forbid something.
 */
export function watchConfig(watch: ConfigWatch): AsyncDisposable {
  const { config, log } = watch;
  const file = config.file ?? join(config.home, "pml.json");
  const applier = createConfigApplier(watch, file);
  let applying = Promise.resolve();
  const onChange = ({ nlink }: Stats, before: Stats): void => {
    if (nlink === 0 && before.nlink === 0) return; // watching a missing file starts with such a call
    if (nlink === 0) log.warn({ file }, "the configuration file was deleted; nothing was changed");
    else applying = applying.then(applyAll); // in sequence, so that the last change wins
  };
  const onPermissions = ({ nlink }: Stats, before: Stats): void => {
    if (nlink > 0 || before.nlink > 0) applying = applying.then(applier.permissions);
  };
  // also when it is deleted: a file that is gone, or no longer trusted, starts no server
  const onProject = ({ nlink }: Stats, before: Stats): void => {
    if (nlink > 0 || before.nlink > 0) applying = applying.then(applyAll);
  };
  const watched = new Map<string, (now: Stats, before: Stats) => void>();
  const watchPath = (path: string, listener: (now: Stats, before: Stats) => void): void => {
    if (watched.has(path)) return;
    watched.set(path, listener);
    watchFile(path, { interval: POLL_MS, persistent: false }, listener);
  };
  const applyAll = async (): Promise<void> => {
    await applier.everything();
    for (const { path } of applier.current.projects) watchPath(path, onProject);
  };
  watchPath(file, onChange);
  for (const path of permissionsFiles(config)) watchPath(path, onPermissions);
  watchPath(trustStore(config.home), onProject);
  applying = applyAll(); // the file may have changed while the daemon started
  return {
    async [Symbol.asyncDispose]() {
      for (const [path, listener] of watched) unwatchFile(path, listener);
      await applying; // otherwise it would start servers after all others have ended
    },
  };
}

interface ConfigApplier {
  readonly everything: () => Promise<void>;
  readonly permissions: () => void;
  readonly current: Config;
}

function createConfigApplier({ config, reload, app, configureGateway, log }: ConfigWatch, file: string): ConfigApplier {
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
      log.error({ file, error: message, hint }, "the changed configuration is invalid; nothing was changed");
    }
    return readable;
  };
  const takeOverPermissions = (): void => {
    if (!readable) return;
    permissions.configure(current);
    const { problem } = permissions;
    if (problem !== undefined)
      log.error({ error: problem.message, hint: problem.hint }, "permissions are suspended: nothing is permitted");
  };
  return {
    permissions: takeOverPermissions,
    get current() {
      return current;
    },
    async everything() {
      const { mcpServers, projects } = current;
      if (!readAgain()) return;
      takeOverPermissions();
      const waiting = changedSettings(config, current);
      if (waiting.length > 0) log.warn({ file, settings: waiting }, "these settings take effect after a restart");
      configureGateway(current);
      if (isDeepStrictEqual([mcpServers, projects], [current.mcpServers, current.projects])) return;
      try {
        await app.configureServers(current);
        log.info({ file }, "applied the changed servers");
      } catch (error) {
        log.error({ file, error: toErrorReport(error).message }, "cannot apply the changed servers");
      }
    },
  };
}

const TAKEN_OVER: readonly (keyof Config)[] = [
  "mcpServers",
  "projects",
  "gateway",
  "results",
  "permissions",
  "approvals",
];

function changedSettings(before: Config, after: Config): string[] {
  const keys = Object.keys(after) as (keyof Config)[];
  return keys.filter((key) => !TAKEN_OVER.includes(key) && !isDeepStrictEqual(before[key], after[key]));
}
