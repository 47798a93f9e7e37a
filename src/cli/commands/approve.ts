import { PmlError } from "../../base/errors.ts";
import { decide } from "../as-person.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import type { SentRule } from "../../contract/approvals.ts";
import { askedTools, oneLine } from "../inbox-item.ts";

export const approve: Command = {
  name: "approve",
  group: "Decide",
  summary: "let a program run that asked",
  examples: ["pml approve apr_7k2m9x4q1c", "pml approve apr_7k2m9x4q1c --remember --for 7"],
  args: [{ name: "<id>", description: "from pml inbox" }],
  options: [
    { flags: "--remember", description: "do not ask again for this very program; what may destroy always asks" },
    { flags: "--for <days>", description: "with --remember: only for so many days", parse: readDays },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const remember = readRemember(input.options);
    const question = remember === undefined ? "Let it run once?" : "Let it run, and do not ask again for this program?";
    const data = await decide(input, question, { decision: "approve", remember });
    const { approval, rules } = data;
    return {
      data,
      text: `${describeExtent(remember, data)}: ${askedTools(approval)} for "${oneLine(approval.intent)}"`,
      notes: remember === undefined ? [] : describeRules(rules),
    };
  },
};

type Decided = Awaited<ReturnType<typeof decide>>;

/** A program that will ask again for one of its tools was allowed once, whatever else is remembered. */
function describeExtent(remember: true | { days: number } | undefined, { approval, rules }: Decided): string {
  const asked = approval.tools.filter(({ decision }) => decision === "ask");
  const isWhole = asked.every(({ tool }) => rules.some((rule) => rule.tool === tool));
  if (remember === undefined || rules.length === 0 || !isWhole) return "Allowed once";
  if (remember === true) return "Allowed from now on";
  return `Allowed for ${remember.days} ${remember.days === 1 ? "day" : "days"}`;
}

function readRemember(options: OptionValues): true | { days: number } | undefined {
  const days = options["for"];
  if (options["remember"] === true) return typeof days === "number" ? { days } : true;
  if (days === undefined) return undefined;
  throw new PmlError("usage", "--for says how long to remember", { hint: "Add --remember" });
}

function readDays(text: string): number {
  const days = Number(text);
  if (days > 0 && Number.isFinite(days)) return days;
  throw new PmlError("usage", `"${text}" is not a number of days`, { hint: "For example: --for 7" });
}

function describeRules(rules: readonly SentRule[]): string[] {
  if (rules.length === 0) return ["Nothing of it can be remembered: what may destroy something asks every time."];
  return rules.map(
    ({ id, tool }) => `${oneLine(tool)} will not ask again in this program. Undo: pml rules remove ${id}`,
  );
}
