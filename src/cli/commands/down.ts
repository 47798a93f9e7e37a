import { resolveHome } from "../../config/environment.ts";
import { callDaemon, isAlive } from "../../daemon/daemon-client.ts";
import { findDaemon } from "../../daemon/start-daemon.ts";
import { PmlError } from "../../errors.ts";
import type { Answer, Command } from "../command.ts";
import { withProgress } from "../progress.ts";

const STOP_LIMIT_MS = 15_000;

export const down: Command = {
  name: "down",
  group: "Start",
  summary: "stop the gateway of this PML_HOME",
  examples: ["pml down", "PML_HOME=/other/dir pml down"],
  async run({ terminal }): Promise<Answer> {
    const daemon = await findDaemon(resolveHome());
    if (daemon === undefined) return { data: { stopped: false }, text: "PML was not running" };
    await callDaemon(daemon, "POST", "/api/shutdown");
    await withProgress("Stopping PML", terminal.options.quiet, async () => {
      const deadline = Date.now() + STOP_LIMIT_MS;
      while (await isRunning(daemon.pid)) {
        if (Date.now() > deadline) throw tooSlow(daemon.pid);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    });
    return {
      data: { stopped: true, pid: daemon.pid },
      text: `PML stopped (pid ${daemon.pid})`,
      notes: ["Everything it learned is kept. Start it again: pml up"],
    };
    async function isRunning(pid: number): Promise<boolean> {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return daemon !== undefined && isAlive(daemon); // a pid of another user cannot be asked
      }
    }
  },
};

function tooSlow(pid: number): PmlError {
  return new PmlError("daemon_unreachable", `The daemon (pid ${pid}) did not end within ${STOP_LIMIT_MS / 1000} s`, {
    hint: `End it by force, nothing acknowledged is lost: kill -9 ${pid}`,
  });
}
