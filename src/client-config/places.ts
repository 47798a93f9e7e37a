import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Environment } from "../config/environment.ts";

/** Where clients keep their configurations on this machine. */
export interface Places {
  readonly home: string;
  /** Where desktop applications keep their settings. */
  readonly appData: string;
  /** Where command-line programs do that follow the XDG convention, on every system. */
  readonly xdgConfig: string;
  /** The folder whose project configurations count. */
  readonly project: string;
  readonly env: Environment;
}

export function findPlaces(env: Environment, project: string, platform: NodeJS.Platform = process.platform): Places {
  const home = env["HOME"] || homedir();
  const xdgConfig = env["XDG_CONFIG_HOME"] || join(home, ".config");
  const appData = {
    darwin: join(home, "Library", "Application Support"),
    win32: env["APPDATA"] || join(home, "AppData", "Roaming"),
  }[platform as string];
  return { home, appData: appData ?? xdgConfig, xdgConfig, project: resolve(project), env };
}
