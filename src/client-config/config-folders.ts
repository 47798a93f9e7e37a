import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Environment } from "../config/environment.ts";

/** The folders of clients' configurations on this machine. */
export interface ConfigFolders {
  readonly home: string;
  /** Settings of desktop applications. */
  readonly appData: string;
  /** Settings of command-line programs that follow the XDG convention, on every system. */
  readonly xdgConfig: string;
  /** The folder whose project configurations apply. */
  readonly project: string;
  readonly env: Environment;
}

export function findConfigFolders(
  env: Environment,
  project: string,
  platform: NodeJS.Platform = process.platform,
): ConfigFolders {
  const home = env["HOME"] || homedir();
  const xdgConfig = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const appData = {
    darwin: join(home, "Library", "Application Support"),
    win32: env["APPDATA"] || join(home, "AppData", "Roaming"),
  }[platform as string];
  return { home, appData: appData ?? xdgConfig, xdgConfig, project: resolve(project), env };
}
