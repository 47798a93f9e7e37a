import { environment } from "../../config/environment.ts";
import { PmlError } from "../../base/errors.ts";
import type { Answer, Command } from "../command.ts";

export const remove: Command = {
  name: "remove",
  group: "Manage",
  summary: "take an MCP server out of the configuration",
  examples: ["pml remove files", "pml remove files --config team.json"],
  args: [{ name: "<name>", description: "as pml servers prints it" }],
  async run({ args: [name = ""], options }): Promise<Answer> {
    const { editServers } = await import("../../config/edit-config.ts");
    const config = options["config"];
    const asked = typeof config === "string" ? config : undefined;
    const { file, existed } = editServers(asked, environment, { [name]: undefined });
    if (existed.length === 0)
      throw new PmlError("server_not_found", `There is no server "${name}" in ${file}`, {
        hint: "The configured ones: pml servers",
      });
    return {
      data: { name, file },
      text: `Removed ${name} from ${file}`,
      notes: ["What PML learned with its tools is kept."],
    };
  },
};
