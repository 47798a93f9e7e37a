import { GROUPS } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { createProgram } from "../../src/cli/run-cli.ts";

export function renderCliReference(): string {
  const program = createProgram(async () => undefined);
  const globals = program
    .createHelp()
    .visibleOptions(program)
    .map(({ flags, description }) => `| \`${flags}\` | ${description} |`);
  const groups = GROUPS.flatMap((group) => {
    const members = commands.filter((command) => command.group === group);
    return members.length === 0 ? [] : [`## ${group}\n`, ...members.map(renderCommand)];
  });
  return [
    "# Command line\n",
    "Generated from `src/cli/commands`. The same for programs: `pml help --json`.\n",
    "| everywhere | |\n|---|---|",
    `${globals.join("\n")}\n`,
    ...groups,
    "`pml completion <zsh|bash|fish|powershell>` prints a completion script for the shell.\n",
  ].join("\n");
}

function renderCommand({ name, summary, args = [], options = [], examples }: (typeof commands)[number]): string {
  const usage = [
    "pml",
    name,
    ...args.map((argument) => argument.name),
    ...(options.length > 0 ? ["[options]"] : []),
  ].join(" ");
  const rows = [
    ...args.map((argument) => `| \`${argument.name}\` | ${argument.description} |`),
    ...options
      .filter(({ hidden }) => hidden !== true)
      .map(({ flags, description }) => `| \`${flags}\` | ${description} |`),
  ];
  const table = rows.length === 0 ? "" : `\n| | |\n|---|---|\n${rows.join("\n")}\n`;
  return `### \`${usage}\`\n\n${summary}\n${table}\n\`\`\`sh\n${examples.join("\n")}\n\`\`\`\n`;
}
