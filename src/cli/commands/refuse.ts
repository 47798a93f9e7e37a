import { decide } from "../as-person.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askedTools, oneLine } from "../inbox-item.ts";

export const refuse: Command = {
  name: "refuse",
  group: "Decide",
  summary: "keep a program that asked from running",
  examples: ["pml refuse apr_7k2m9x4q1c", 'pml refuse apr_7k2m9x4q1c --reason "not in that folder"'],
  args: [{ name: "<id>", description: "from pml inbox" }],
  options: [{ flags: "--reason <text>", description: "goes back to the agent" }, noStartOption],
  async run(input): Promise<Answer> {
    const reason = input.options["reason"];
    const data = await decide(input, "Refuse it?", {
      decision: "refuse",
      ...(typeof reason === "string" ? { reason } : {}),
    });
    const { approval } = data;
    return { data, text: `Refused: ${askedTools(approval)} for "${oneLine(approval.intent)}"` };
  },
};
