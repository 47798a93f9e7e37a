import { resolve } from "node:path";
import { resolveHome } from "../config/environment.ts";
import type { DaemonAddress } from "../daemon/daemon-file.ts";
import { ensureDaemon, findDaemon, findStranger } from "../daemon/start-daemon.ts";
import { PmlError } from "../base/errors.ts";
import type { CommandOption, Input, OptionValues } from "./command.ts";
import { withProgress } from "./progress.ts";

export const noStartOption: CommandOption = {
  flags: "--no-start",
  description: "fail when no daemon runs, instead of starting one",
};

/** Finds the daemon of this PML_HOME and starts one if none runs, unless --no-start forbids it. */
export async function reachDaemon({ options, terminal }: Input): Promise<DaemonAddress> {
  const home = resolveHome();
  const running = await findDaemon(home);
  if (running !== undefined) return running;
  if (options["start"] === false) throw (await findStranger(home)) ?? notRunning(home);
  return withProgress("Starting PML", terminal.options.quiet, () =>
    ensureDaemon({ home, serveArguments: ["--exit-when-idle", ...configArguments(options)] }),
  );
}

/** Passes `--config` on to a daemon, which runs in another folder. */
export function configArguments({ config }: OptionValues): string[] {
  return config === undefined ? [] : ["--config", resolve(String(config))];
}

function notRunning(home: string): PmlError {
  return new PmlError("daemon_unreachable", `No PML daemon runs for ${home}`, { hint: "Start it: pml up" });
}
