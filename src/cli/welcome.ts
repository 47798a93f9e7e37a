import { existsSync } from "node:fs";
import { join } from "node:path";
import { resolveHome } from "../config/environment.ts";
import type { Answer, Command } from "./command.ts";
import { status } from "./commands/status.ts";

/** Answers `pml` alone: the first steps on a new machine, otherwise the status. */
export const showWelcome: Command = {
  name: "pml",
  group: "Start",
  summary: "what to do first, or how it is going",
  examples: ["pml", "pml --help"],
  async run(input): Promise<Answer | undefined> {
    const home = resolveHome();
    if (existsSync(join(home, "owner.lock"))) return status.run(input);
    return {
      data: { initialised: false, home },
      text: [
        "PML remembers what your agents did with their MCP tools and lets them do it again by name.",
        "  pml up        start it (memory is kept in " + home + ")",
        "  pml --help    everything else",
      ].join("\n"),
    };
  },
};
