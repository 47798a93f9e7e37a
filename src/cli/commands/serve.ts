import { InvalidArgumentError } from "commander";
import { environment, shareCompileCache } from "../../config/environment.ts";
import type { Config } from "../../config/load-config.ts";
import type { StartReport } from "../../daemon/start-daemon.ts";
import { toErrorReport } from "../../base/errors.ts";
import type { Answer, Command, CommandOption } from "../command.ts";

/** Options of `serve`; `up` passes them to the daemon it starts. */
export const serveOptions: readonly CommandOption[] = [
  {
    flags: "--port <number>",
    description: "port to listen on; 0 takes any free one (default: 7650)",
    parse: parsePort,
  },
  { flags: "--host <address>", description: "address to listen on (default: 127.0.0.1)" },
  { flags: "--pg <url>", description: "keep memory in this PostgreSQL server (default: DATABASE_URL)" },
];

export const serve: Command = {
  name: "serve",
  group: "Start",
  summary: "run the gateway in the foreground",
  examples: ["pml serve", "pml serve --port 0 --pg postgres://user:password@localhost/pml"],
  options: [...serveOptions, { flags: "--exit-when-idle", description: "end when no client needs it", hidden: true }],
  async run({ options, terminal }): Promise<Answer> {
    shareCompileCache();
    const inBackground = process.send !== undefined;
    const report = reportToParent();
    try {
      // Loaded only here: other commands must not wait for the database and the protocol.
      const { loadConfig } = await import("../../config/load-config.ts");
      const { runDaemon } = await import("../../daemon/run-daemon.ts");
      const load = (): Config => loadConfig(options, environment);
      const config = load();
      await runDaemon({
        config,
        reload: load,
        exitWhenIdle: options["exitWhenIdle"] === true,
        onLost: (error) => process.exit(terminal.fail(error)),
        onReady: ({ url }) => {
          report({ kind: "ready" });
          if (!terminal.options.quiet && !inBackground)
            terminal.say(`PML is ready at ${url}  (PML_HOME ${config.home}, stop with Ctrl+C)`);
        },
      });
    } catch (error) {
      report({ kind: "failed", error: toErrorReport(error) });
      throw error;
    }
    return { data: { stopped: true }, text: "" };
  },
};

/** Reports to the process that started this one in the background. */
function reportToParent(): (report: StartReport) => void {
  return (report) => {
    if (process.send === undefined || !process.connected) return;
    process.send(report);
    process.disconnect();
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("It must be a number from 0 to 65535.");
  return port;
}
