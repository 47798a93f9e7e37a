import { InvalidArgumentError } from "commander";
import type { Answer, Command } from "../command.ts";
import { LEVELS, type Level } from "../log-levels.ts";

const LINES_SHOWN = 100;

export const logs: Command = {
  name: "logs",
  group: "Look",
  summary: "what the gateway and its servers said, also when it is not running",
  examples: ["pml logs filesystem --follow", "pml logs --since 10m --level warn"],
  args: [{ name: "[server]", description: "only about this server, with what it wrote to stderr" }],
  options: [
    { flags: "-f, --follow", description: "go on with what comes" },
    { flags: "--since <time>", description: "only newer: 30s, 10m, 2h, 1d, or a date", parse: parseSince },
    { flags: "--level <level>", description: `at least this: ${LEVELS.join(", ")}`, parse: parseLevel },
    {
      flags: "-n, --lines <number>",
      description: `at most so many of what there is (default: ${LINES_SHOWN}; with --since all)`,
      parse: parseCount,
    },
  ],
  async run(input): Promise<Answer | undefined> {
    const { showLogs } = await import("../show-logs.ts");
    const { since, lines } = input.options;
    await showLogs(input, Number(lines ?? (since === undefined ? LINES_SHOWN : Infinity)));
    return undefined;
  },
};

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function parseSince(text: string): number {
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (amount !== undefined) return Date.now() - Number(amount) * UNITS[unit as keyof typeof UNITS];
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError("It must be like 10m, 2h, 1d, or a date: 2026-11-15T10:00");
  return time;
}

function parseLevel(text: string): Level {
  const level = LEVELS.find((each) => each === text);
  if (level === undefined) throw new InvalidArgumentError(`It must be one of ${LEVELS.join(", ")}.`);
  return level;
}

function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}
