import { routes } from "../../contract/routes.ts";
import { resolveHome } from "../../config/environment.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { type DaemonAddress, readDaemonAddress } from "../../daemon/daemon-file.ts";
import { findDaemon, findStranger } from "../../daemon/start-daemon.ts";
import { isOwned } from "../../db/owner-lock.ts";
import { PmlError } from "../../base/errors.ts";
import type { Answer, Command } from "../command.ts";
import { withProgress } from "../progress.ts";

const STOP_LIMIT_MS = 15_000;

export const down: Command = {
  name: "down",
  group: "Start",
  summary: "stop the gateway of this PML_HOME",
  examples: ["pml down", "PML_HOME=/other/dir pml down"],
  async run({ terminal }): Promise<Answer> {
    const home = resolveHome();
    const daemon = await findDaemon(home);
    const stranger = daemon === undefined && isOwned(home) ? await findStranger(home) : undefined;
    if (stranger !== undefined) throw stranger;
    if (daemon === undefined) return { data: { stopped: false }, text: "PML was not running" };
    await stop(daemon);
    await withProgress("Stopping PML", terminal.options.quiet, async () => {
      const deadline = Date.now() + STOP_LIMIT_MS;
      while (owns(home, daemon.pid)) {
        if (Date.now() > deadline) throw tooSlow(daemon.pid);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    });
    return {
      data: { stopped: true, pid: daemon.pid },
      text: `PML stopped (pid ${daemon.pid})`,
      notes: ["Everything it learned is kept. Start it again: pml up"],
    };
  },
};

/** Asks for the end; a daemon of another version, which may have no such route, gets the signal instead. */
async function stop(daemon: DaemonAddress): Promise<void> {
  try {
    await callDaemon(daemon, routes.shutDown);
  } catch (error) {
    if (!(error instanceof PmlError) || error.code !== "daemon_version") throw error;
    process.kill(daemon.pid, "SIGTERM");
  }
}

/** Checks that this daemon, and not a successor that a waiting client started, holds the directory. */
function owns(home: string, pid: number): boolean {
  const successor = readDaemonAddress(home)?.pid;
  return (successor === undefined || successor === pid) && isOwned(home);
}

function tooSlow(pid: number): PmlError {
  return new PmlError("daemon_unreachable", `The daemon (pid ${pid}) did not end within ${STOP_LIMIT_MS / 1000} s`, {
    hint: `End it by force, nothing acknowledged is lost: kill -9 ${pid}`,
  });
}
