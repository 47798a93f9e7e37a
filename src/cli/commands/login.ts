import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { openBrowser } from "../open-browser.ts";

export const login: Command = {
  name: "login",
  group: "Decide",
  summary: "log in to a remote server that asks who calls",
  examples: ["pml login docs", "pml login docs --no-browser"],
  args: [{ name: "<server>", description: "as pml servers prints it" }],
  options: [{ flags: "--no-browser", description: "only print the address" }, noStartOption],
  async run(input): Promise<Answer> {
    const [server = ""] = input.args;
    const daemon = await reachAsPerson(input);
    const { id, url, seconds } = await callDaemon(daemon, routes.beginLogin, { body: { server } });
    input.terminal.say(`Open this address within ${Math.round(seconds / 60)} minutes and say yes:\n${url}`);
    if (process.stdout.isTTY && input.options["browser"] !== false) openBrowser(url);
    while (!(await callDaemon(daemon, routes.awaitLogin, { query: { id } })).done); // each answer takes a while
    return {
      data: { server, loggedIn: true },
      text: `Logged in to ${server}`,
      notes: [`Undo: pml logout ${server}`],
    };
  },
};
