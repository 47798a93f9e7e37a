import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { environment } from "../../config/environment.ts";
import { PmlError } from "../../base/errors.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command, Input } from "../command.ts";
import { confirmAtTerminal } from "../confirm-at-terminal.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatTime, oneLine } from "../inbox-item.ts";
import { formatTable } from "../table.ts";

export const clients: Command = {
  name: "clients",
  group: "Decide",
  summary: "clients that made calls, and whose forms may approve",
  examples: ["pml clients", "pml clients allow-forms claude-code"],
  args: [
    { name: "[action]", description: "list when left out", choices: ["list", "allow-forms", "deny-forms"] },
    { name: "[name]", description: "the name that the client gives itself" },
  ],
  options: [noStartOption],
  async run(input): Promise<Answer> {
    const [action = "list", name] = input.args;
    if (action === "list") return list(input);
    if (name === undefined) {
      throw new PmlError("usage", `pml clients ${action} needs the name of a client`, { hint: "Names: pml clients" });
    }
    return action === "allow-forms" ? allow(input, name) : deny(input, name);
  },
};

async function list(input: Input): Promise<Answer> {
  const data = await callDaemon(await reachDaemon(input), routes.listClients);
  const rows = data.map(({ name, transport, seenAt, forms }) => ({
    name: oneLine(name),
    by: transport ?? "",
    seen: seenAt === undefined ? "" : formatTime(seenAt),
    forms: forms ? "may approve" : "",
  }));
  return { data, text: rows.length === 0 ? "No client has made a call since the daemon started" : formatTable(rows) };
}

const MEANING =
  "Questions of PML appear in this client, and its answer counts as yours: once, for what that connection asked, and nothing that may destroy. PML cannot see whether a person or the client itself answered.";

async function allow(input: Input, name: string): Promise<Answer> {
  const { url } = await reachAsPerson(input);
  await confirmAtTerminal({
    shown: `Client: ${oneLine(name)}\n\n${MEANING}`,
    question: "Let its forms approve?",
    elsewhere: `approvals.forms in the configuration (the daemon is at ${url})`,
  });
  return change(input, name, true);
}

/** Takes the key like every decision, but no terminal: it only takes away. */
async function deny(input: Input, name: string): Promise<Answer> {
  await reachAsPerson(input);
  return change(input, name, false);
}

async function change({ options }: Input, name: string, forms: boolean): Promise<Answer> {
  const { editForms } = await import("../../config/edit-config.ts");
  const { config } = options;
  const file = editForms(typeof config === "string" ? config : undefined, environment, { name, allowed: forms });
  return {
    data: { name, forms, file },
    text: forms ? `Forms of ${oneLine(name)} may approve` : `Forms of ${oneLine(name)} approve nothing`,
    notes: [
      "A running gateway takes it over by itself.",
      ...(forms ? [`Undo: pml clients deny-forms ${oneLine(name)}`] : []),
    ],
  };
}
