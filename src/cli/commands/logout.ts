import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";

export const logout: Command = {
  name: "logout",
  group: "Decide",
  summary: "forget the login to a remote server",
  examples: ["pml logout docs", "pml logout docs --json"],
  args: [{ name: "<server>", description: "as pml servers prints it" }],
  options: [noStartOption],
  async run(input): Promise<Answer> {
    const [server = ""] = input.args;
    const daemon = await reachAsPerson(input);
    const { ended } = await callDaemon(daemon, routes.endLogin, { body: { server } });
    const text = ended ? `Logged out of ${server}` : `There was no login to ${server}`;
    return { data: { server, loggedOut: ended }, text };
  },
};
