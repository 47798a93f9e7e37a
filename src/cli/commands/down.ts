import { resolveHome } from "../../config/environment.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { readDaemonAddress } from "../../daemon/daemon-file.ts";
import { findDaemon } from "../../daemon/start-daemon.ts";
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
    if (daemon === undefined) return { data: { stopped: false }, text: "PML was not running" };
    await callDaemon(daemon, "POST", "/api/shutdown");
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

/** Whether the directory is still held, and not by a daemon that a waiting client has started since. */
function owns(home: string, pid: number): boolean {
  const successor = readDaemonAddress(home)?.pid;
  return (successor === undefined || successor === pid) && isOwned(home);
}

function tooSlow(pid: number): PmlError {
  return new PmlError("daemon_unreachable", `The daemon (pid ${pid}) did not end within ${STOP_LIMIT_MS / 1000} s`, {
    hint: `End it by force, nothing acknowledged is lost: kill -9 ${pid}`,
  });
}
