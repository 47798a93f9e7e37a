import { type Stats, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/load-config.ts";
import { toErrorReport } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { permissionsFiles } from "../permissions/read-rules.ts";

export interface ConfigWatch {
  /** What the daemon was started with. */
  readonly config: Config;
  /** Reads all sources again, as at the start. */
  readonly reload: () => Config;
  /** Takes over changed servers. */
  readonly apply: (config: Config) => Promise<void>;
  /** Read again with the configuration and with their own file. */
  readonly permissions: Pick<Permissions, "configure" | "denyAll" | "problem">;
  readonly log: Logger;
}

/** Looking is cheap, and unlike a notification it also works for files that editors replace. */
const LOOK_EVERY_MS = 500;

/**
 * Takes over changed servers and permissions while the daemon runs. A file that cannot be used changes no
 * server, but until it can be used nothing is permitted: it may be about to forbid something.
 */
export function watchConfig({ config, reload, apply, permissions, log }: ConfigWatch): AsyncDisposable {
  const file = config.file ?? join(config.home, "pml.json");
  let current = config;
  let readable = true;
  let applying = Promise.resolve();

  /** What the sources say now; undefined when that cannot be read. */
  const read = (): Config | undefined => {
    try {
      const next = reload();
      readable = true;
      return next;
    } catch (error) {
      readable = false;
      permissions.denyAll(error);
      const { message, hint } = toErrorReport(error);
      log.error({ file, error: message, hint }, "the changed configuration cannot be used; nothing was changed");
      return undefined;
    }
  };
  const takeOverPermissions = (next: Config): void => {
    permissions.configure(next);
    const { problem } = permissions;
    if (problem !== undefined) log.error({ error: problem.message, hint: problem.hint }, "nothing is permitted");
  };
  const takeOver = async (): Promise<void> => {
    const next = read();
    if (next === undefined) return;
    takeOverPermissions(next);
    const waiting = changedSettings(config, next);
    if (waiting.length > 0) log.warn({ file, settings: waiting }, "these settings count from the next start on");
    const isSame = isDeepStrictEqual(current.mcpServers, next.mcpServers);
    current = next;
    if (isSame) return;
    try {
      await apply(next);
      log.info({ file }, "the changed servers were taken over");
    } catch (error) {
      log.error({ file, error: toErrorReport(error).message }, "the changed servers could not be taken over");
    }
  };
  const onChange = ({ nlink }: Stats, before: Stats): void => {
    if (nlink === 0 && before.nlink === 0) return; // watching a file that does not exist begins with such a call
    if (nlink === 0) log.warn({ file }, "the configuration file is gone; nothing was changed");
    else applying = applying.then(takeOver); // one after the other, the last one counts
  };
  const onPermissions = ({ nlink }: Stats, before: Stats): void => {
    if (nlink === 0 && before.nlink === 0) return;
    applying = applying.then(() => {
      if (readable) takeOverPermissions(current);
    });
  };
  const permissionFiles = permissionsFiles(config);
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, onChange);
  for (const each of permissionFiles) watchFile(each, { interval: LOOK_EVERY_MS, persistent: false }, onPermissions);
  applying = takeOver(); // it may have changed while the daemon started
  return {
    async [Symbol.asyncDispose]() {
      unwatchFile(file, onChange);
      for (const each of permissionFiles) unwatchFile(each, onPermissions);
      await applying; // or it would start servers after all others have ended
    },
  };
}

const TAKEN_OVER: readonly (keyof Config)[] = ["mcpServers", "permissions", "approvals"];

function changedSettings(before: Config, after: Config): string[] {
  const keys = Object.keys(after) as (keyof Config)[];
  return keys.filter((key) => !TAKEN_OVER.includes(key) && !isDeepStrictEqual(before[key], after[key]));
}
