import { routes } from "../../contract/routes.ts";
import type { AskedApproval } from "../../contract/approvals.ts";
import type { InboxItem } from "../../contract/inbox.ts";
import type { Answered } from "../../contract/route.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
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
    const items = await listInbox(daemon, input.options["all"] === true);
    if (items.length === 0) return { data: items, text: "Nothing needs you" };
    return { data: items, text: formatTable(items.map(toRow)), notes: nextCommands(items) };
  },
};

/** Reads all pages, so that nothing is pushed off. */
async function listInbox(daemon: DaemonAddress, all: boolean): Promise<readonly InboxItem[]> {
  const items: InboxItem[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const query = { all: all ? "true" : "false", offset } as const;
    const page: Answered<typeof routes.listInbox> = await callDaemon(daemon, routes.listInbox, { query });
    items.push(...page.items);
    offset = page.next;
  }
  return items;
}

interface Row extends Readonly<Record<string, string>> {
  readonly id: string;
  readonly kind: InboxItem["kind"];
}

function toRow(item: InboxItem): Row {
  const { kind } = item;
  const rest = { state: "pending", tools: "", for: "", by: "pml", expires: "" };
  switch (kind) {
    case "approval":
      return {
        id: item.id,
        kind,
        state: item.state,
        tools: askedTools(item),
        for: oneLine(item.intent),
        by: askedBy(item),
        expires: formatTime(item.expiresAt),
      };
    case "review":
      return { ...rest, id: oneLine(item.tool), kind, tools: oneLine(item.tool), for: "changed under its name" };
    case "login":
      return { ...rest, id: item.server, kind, for: "wants to know who calls" };
    case "naming":
    default: {
      // its capability is its id, since proposals are decided together
      const { currentName, suggestedName, confidence } = item;
      return { ...rest, id: currentName, kind, for: `${suggestedName} ${confidence.toFixed(2)}` };
    }
  }
}

function nextCommands(items: readonly InboxItem[]): string[] {
  const first = (kind: InboxItem["kind"]): string | undefined =>
    items.map(toRow).find((row) => row.kind === kind && row["state"] === "pending")?.id;
  const [id, tool, server] = [first("approval"), first("review"), first("login")];
  return [
    ...(first("naming") === undefined ? [] : ["Names: pml curate"]),
    ...(server === undefined ? [] : [`Log in: pml login ${server}`]),
    ...(tool === undefined ? [] : [`What changed: pml review ${tool}`]),
    ...(id === undefined
      ? []
      : [`Look: pml inbox ${id}   Decide: pml approve ${id}   or: pml refuse ${id} --reason "…"`]),
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
