import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import { EXIT, PmlError } from "../../base/errors.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command, Input } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { formatTime, oneLine } from "../inbox-item.ts";
import { formatPairs, formatTable } from "../table.ts";

export const rules: Command = {
  name: "rules",
  group: "Decide",
  summary: "what you allowed for good, and what the rules say about a tool",
  examples: ["pml rules remove rul_7k2m9x4q1c", "pml rules test filesystem:write_file"],
  args: [
    { name: "[action]", description: "list when left out", choices: ["list", "remove", "test"] },
    { name: "[subject]", description: "remove: the id of a rule; test: server:tool" },
  ],
  options: [noStartOption],
  async run(input): Promise<Answer> {
    const [action = "list", subject] = input.args;
    if (action === "list") return listRules(await reachDaemon(input));
    if (subject === undefined) {
      throw new PmlError("usage", `pml rules ${action} needs to know of what`, { hint: "pml rules --help" });
    }
    return action === "remove" ? removeRule(input, subject) : testTool(await reachDaemon(input), subject);
  },
};

async function listRules(daemon: DaemonAddress): Promise<Answer> {
  const data = await callDaemon(daemon, routes.listRules);
  const rows = data.map(({ id, tool, capability, bindingHash, principal, createdBy, createdAt, expiresAt }) => ({
    id,
    tool: oneLine(tool),
    program: oneLine(capability ?? bindingHash.slice(0, 12)),
    for: oneLine(principal),
    by: createdBy,
    since: formatTime(createdAt),
    until: expiresAt === undefined ? "" : formatTime(expiresAt),
  }));
  return {
    data,
    text: rows.length === 0 ? "Nothing is remembered: whatever changes something asks" : formatTable(rows),
  };
}

async function removeRule(input: Input, id: string): Promise<Answer> {
  const data = await callDaemon(await reachAsPerson(input), routes.removeRule, { params: { id } });
  return { data, text: `Removed ${id}: ${oneLine(data.tool)} asks again` };
}

const EXITS = { allow: EXIT.ok, ask: EXIT.needsPerson, deny: EXIT.refused } as const;

async function testTool(daemon: DaemonAddress, tool: string): Promise<Answer> {
  const verdict = await callDaemon(daemon, routes.testRules, { query: { tool } });
  const { decision, effect, routing, reason, source } = verdict;
  return {
    data: verdict,
    text: formatPairs({ tool, decision, effect, routing, why: oneLine(reason), source: source.at }),
    exit: EXITS[decision],
  };
}
