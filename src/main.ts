import { setEngineFlags } from "./base/engine-flags.ts";
import { environment, resolveHome } from "./config/environment.ts";
import { listProjectFiles } from "./config/project-file.ts";

setEngineFlags(); // before anything else is loaded

/**
 * Every client starts the shim, over and over: it must not load the command line, the configuration and the database
 * driver, none of which it uses.
 */
if (process.argv[2] === "mcp" && process.argv.length === 3) {
  // Registered first, because a client may stop the shim while it is still loading.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => process.exit(0));
  const { runShim } = await import("./daemon/stdio-shim.ts");
  const { stdin: input, stdout: output, stderr: errors } = process;
  const home = resolveHome(environment);
  if (listProjectFiles(process.cwd()).length > 0) {
    const { noteUntrusted } = await import("./config/untrusted-files.ts");
    noteUntrusted((line) => errors.write(`pml mcp: ${line}\n`));
  }
  process.exit(await runShim({ home, serveArguments: ["--exit-when-idle"], input, output, errors }));
} else {
  const { runCli } = await import("./cli/run-cli.ts");
  process.exitCode = await runCli(process.argv.slice(2));
}
