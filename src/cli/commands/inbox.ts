import type { SourcedSuggestion } from "../../naming/curation/suggestion-store.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { toVisible } from "../../base/visible.ts";
import type { Answer, Command } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import { askedBy, askedTools, formatTime, type InboxItem, oneLine, type SentApproval } from "../inbox-item.ts";
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
      const path = `/api/approvals/${encodeURIComponent(id)}`;
      const approval = await callDaemon<SentApproval>(daemon, "GET", path);
      return { data: approval, text: describe(approval), notes: [`In a browser: ${daemon.url}/approvals/${id}`] };
    }
    const all = input.options["all"] === true;
    const items = await callDaemon<InboxItem[]>(daemon, "GET", all ? "/api/inbox?all" : "/api/inbox");
    const { pending } = await callDaemon<{ pending: SourcedSuggestion[] }>(daemon, "GET", "/api/curation");
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

/** A proposal is decided together with the others, so its capability is all the id it needs. */
function toNamingRow({ currentName, suggestedName, confidence }: SourcedSuggestion): Record<string, string> {
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

function describe(approval: SentApproval): string {
  const { id, state, intent, capability, tools, reasons, createdAt, expiresAt, input, code, reason } = approval;
  const decided = approval.decidedBy === undefined ? "" : `, by ${approval.decidedBy} (${approval.decidedVia})`;
  const pairs = formatPairs({
    id,
    state: `${state}${decided}`,
    ...(reason === undefined ? {} : { reason: oneLine(reason) }),
    for: oneLine(intent),
    by: askedBy(approval),
    ...(capability === undefined ? {} : { in: oneLine(capability) }),
    asked: formatTime(createdAt),
    expires: formatTime(expiresAt),
    calls: tools.map(({ tool, effect }) => `${oneLine(tool)} (${effect})`).join(", "),
  });
  const why = reasons.map((each) => `  ${oneLine(each)}`);
  const given = input === undefined ? [] : ["", "with:", toVisible(JSON.stringify(input, null, 2))];
  return [pairs, "", "why it asks:", ...why, ...given, "", "program:", toVisible(code)].join("\n");
}
