import { PmlError } from "../../base/errors.ts";
import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { describeClaims, readClaims, trustAtTerminal } from "../hint-trust.ts";

export const hints: Command = {
  name: "hints",
  group: "Decide",
  summary: "what a server says its tools do, and whether to believe it",
  examples: ["pml hints files", "pml hints files --trust"],
  args: [{ name: "<server>", description: "as pml servers prints it" }],
  options: [
    { flags: "--trust", description: "believe it: tools that only read run unasked" },
    { flags: "--distrust", description: "do not believe it any more" },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const [server = ""] = input.args;
    const change = readChange(input.options);
    if (change === "trust") {
      await trustAtTerminal(input, [server]);
      return { data: { server, trusted: true }, text: `The hints of ${server} are believed`, notes: [undo(server)] };
    }
    if (change === "distrust") {
      await callDaemon(await reachAsPerson(input), routes.trustHints, { body: { server, trust: false } });
      return { data: { server, trusted: false }, text: `The hints of ${server} are not believed` };
    }
    const daemon = await reachDaemon(input);
    const row = (await callDaemon(daemon, routes.listServers)).find(({ name }) => name === server);
    if (row === undefined)
      throw new PmlError("server_not_found", `There is no server "${server}"`, { hint: "All of them: pml servers" });
    const claims = await readClaims(daemon, server);
    const trusted = row.trustHints === true;
    return {
      data: { server, trusted, tools: claims },
      text: `${describeClaims(server, claims)}\n${trusted ? "That is believed." : "Nobody has confirmed that."}`,
      notes: [trusted ? undo(server) : `To believe it: pml hints ${server} --trust`],
    };
  },
};

function undo(server: string): string {
  return `Undo: pml hints ${server} --distrust`;
}

function readChange({ trust, distrust }: OptionValues): "trust" | "distrust" | undefined {
  if (trust === true && distrust === true) throw new PmlError("usage", "--trust and --distrust exclude each other");
  if (trust === true) return "trust";
  return distrust === true ? "distrust" : undefined;
}
