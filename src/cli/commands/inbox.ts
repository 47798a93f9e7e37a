import { routes } from "../../contract/routes.ts";
import type { AskedApproval, InboxItem } from "../../contract/approvals.ts";
import type { NameSuggestion } from "../../contract/curation.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { askedBy, askedTools, formatTime, oneLine } from "../inbox-item.ts";
import { formatPairs, formatTable } from "../table.ts";

export const inbox: Command = {
  name: "inbox",
  group: "Decide",
  summary: "what waits for your decision",
  examples: ["pml inbox", "pml inbox apr_7k2m9x4q1c"],
  args: [{ name: "[id]", description: "show everything about this one, with its program" }],
  options: [{ flags: "--all", description: "also what was decided or has expired" }, noStartOption],
  async run(input): Promise<Answer> {
    const daemon = await reachDaemon(input);
    const [id] = input.args;
    if (id !== undefined) {
      const approval = await callDaemon(daemon, routes.getApproval, { params: { id } });
      return { data: approval, text: describe(approval), notes: [`In a browser: ${daemon.url}/approvals/${id}`] };
    }
    const all = input.options["all"] === true ? "true" : "false";
    const items = await callDaemon(daemon, routes.listInbox, { query: { all } });
    const { pending } = await callDaemon(daemon, routes.getCuration);
    const data = [...items, ...pending.map((each) => ({ kind: "naming", ...each }))];
    if (data.length === 0) return { data, text: "Nothing needs you" };
    const rows = items.map((item) => ({
      id: item.id,
      kind: item.kind,
      state: item.state,
      tools: askedTools(item),
      for: oneLine(item.intent),
      by: askedBy(item),
      expires: formatTime(item.expiresAt),
    }));
    const names = pending.map(toNamingRow);
    return { data, text: formatTable([...rows, ...names]), notes: nextCommands(items, pending) };
  },
};

/** Makes the row of a proposal; its capability is its id, since proposals are decided together. */
function toNamingRow({ currentName, suggestedName, confidence }: NameSuggestion): Record<string, string> {
  return {
    id: currentName,
    kind: "naming",
    state: "pending",
    tools: "",
    for: `${suggestedName} ${confidence.toFixed(2)}`,
    by: "pml",
    expires: "",
  };
}

function nextCommands(items: readonly InboxItem[], names: readonly unknown[]): string[] {
  const naming = names.length === 0 ? [] : ["Names: pml curate"];
  const open = items.find(({ state }) => state === "pending");
  if (open === undefined) return naming;
  return [
    ...naming,
    `Look: pml inbox ${open.id}   Decide: pml approve ${open.id}   or: pml refuse ${open.id} --reason "…"`,
  ];
}

/** Shows the question as every channel does, below what became of it. */
export function describe({ state, decidedBy, decidedVia, reason, question }: AskedApproval): string {
  const decided = decidedBy === undefined ? "" : `, by ${oneLine(decidedBy)} (${decidedVia})`;
  const pairs = formatPairs({
    state: `${state}${decided}`,
    ...(reason === undefined ? {} : { reason: oneLine(reason) }),
  });
  return `${pairs}\n\n${question}`;
}
