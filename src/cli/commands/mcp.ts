import { resolveHome } from "../../config/environment.ts";
import { runShim } from "../../daemon/stdio-shim.ts";
import type { Answer, Command } from "../command.ts";
import { configArguments } from "../daemon-access.ts";

export const mcp: Command = {
  name: "mcp",
  group: "Start",
  summary: "speak MCP on stdin and stdout; this is what MCP clients start",
  examples: ["pml connect claude-code", "pml mcp"],
  async run({ options }): Promise<Answer | undefined> {
    const exit = await runShim({
      home: resolveHome(),
      serveArguments: ["--exit-when-idle", ...configArguments(options)],
      input: process.stdin,
      output: process.stdout,
      errors: process.stderr,
    });
    process.exit(exit);
  },
};
