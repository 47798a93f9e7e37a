import { resolveHome } from "../../config/environment.ts";
import { ensureDaemon, findDaemon } from "../../daemon/start-daemon.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
import { configArguments } from "../daemon-access.ts";
import { withProgress } from "../progress.ts";
import { serveOptions } from "./serve.ts";

export const up: Command = {
  name: "up",
  group: "Start",
  summary: "start the gateway in the background",
  examples: ["pml up", "pml up --port 7700"],
  options: serveOptions,
  async run({ options, terminal }): Promise<Answer> {
    const home = resolveHome();
    const running = await findDaemon(home);
    const daemon =
      running ??
      (await withProgress("Starting PML", terminal.options.quiet, () =>
        ensureDaemon({ home, serveArguments: toArguments(options) }),
      ));
    const { pid, url, version } = daemon;
    const verb = running === undefined ? "started" : "was already running";
    return {
      data: { pid, url, version, home, started: running === undefined },
      text: `PML ${verb} at ${url} (pid ${pid})`,
      notes: [`Stop it: pml down    Look at it: pml status`],
    };
  },
};

function toArguments(options: OptionValues): string[] {
  const others = ["port", "host", "pg"].flatMap((name) =>
    options[name] === undefined ? [] : [`--${name}`, String(options[name])],
  );
  return [...configArguments(options), ...others];
}
