import { PmlError } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { noStartOption } from "../daemon-access.ts";
import { askRegistry } from "../ask-registry.ts";
import { formatPairs } from "../table.ts";

export const stats: Command = {
  name: "stats",
  group: "Look",
  summary: "how often tools and capabilities were used, and how it went",
  examples: ["pml stats", "pml stats --since 7d --json"],
  options: [{ flags: "--since <time>", description: "of the last 7d, 24h (default: 30d)" }, noStartOption],
  async run(input) {
    const days = readDays(String(input.options["since"] ?? "30d"));
    const figures = await askRegistry(input, "meta:stats", { days });
    return { data: figures, text: formatPairs(flatten(figures)) };
  },
};

const HOURS_PER_DAY = 24;

function readDays(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([dh])$/.exec(text) ?? [];
  if (number === undefined)
    throw new PmlError("usage", `--since ${text} is not a time`, { hint: "For example: --since 7d, --since 24h" });
  return Number(number) / (unit === "h" ? HOURS_PER_DAY : 1);
}

/** Flattens figures by their path; lists are shown by `--json` only. */
function flatten(value: unknown, path = ""): Record<string, string> {
  if (typeof value !== "object" || value === null) return { [path]: String(value) };
  if (Array.isArray(value)) return { [path]: `${value.length} entries, see --json` };
  return Object.assign(
    {},
    ...Object.entries(value).map(([key, item]) => flatten(item, path === "" ? key : `${path} ${key}`)),
  ) as Record<string, string>;
}
