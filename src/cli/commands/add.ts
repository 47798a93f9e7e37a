import { environment } from "../../config/environment.ts";
import { PmlError } from "../../base/errors.ts";
import { trustHintsOption } from "../trust-hints-option.ts";
import type { Answer, Command, OptionValues } from "../command.ts";

export const add: Command = {
  name: "add",
  group: "Manage",
  summary: "put an MCP server behind the gateway",
  examples: [
    "pml add files -- npx -y @modelcontextprotocol/server-filesystem /data",
    "pml add docs https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'",
  ],
  args: [
    { name: "<name>", description: "letters, digits and inner spaces, hyphens, underscores and dots" },
    { name: "<target...>", description: "its address, or after -- the command that starts it" },
  ],
  options: [
    {
      flags: "--env <NAME=value...>",
      description: "environment of the command; ${NAME} is filled in when it is started",
    },
    { flags: "--header <line...>", description: "HTTP header for an address, as 'Name: value'" },
    { flags: "--cwd <folder>", description: "where the command is started" },
    trustHintsOption,
  ],
  async run(input): Promise<Answer> {
    const { args, options } = input;
    const [name = "", ...target] = args;
    const { checkTrustOption, offerTrust } = await import("../hint-trust.ts");
    const { editServers } = await import("../../config/edit-config.ts");
    const { checkServerEntry } = await import("../../config/check-entry.ts");
    const entry = checkServerEntry(name, readEntry(target, options));
    await checkTrustOption(input);
    const config = options["config"];
    const asked = typeof config === "string" ? config : undefined;
    const { file, existed, first } = editServers(asked, environment, { [name]: entry });
    const replaced = existed.length > 0;
    const doubts = await offerTrust(input, [name]);
    return {
      data: { name, file, replaced, entry },
      text: `${replaced ? "Replaced" : "Added"} ${name} in ${file}`,
      notes: [
        "A running gateway takes it over by itself: pml servers",
        ...doubts,
        ...(first ? ["The servers that ship with PML are used only while none is configured."] : []),
        `Undo: pml remove ${name}`,
      ],
    };
  },
};

function readEntry(target: readonly string[], options: OptionValues): Record<string, unknown> {
  const [first = "", ...rest] = target;
  if (/^https?:\/\//.test(first)) {
    if (rest.length > 0) throw new PmlError("usage", `An address stands alone, but "${rest.join(" ")}" follows it`);
    return { url: first, ...optional("headers", readPairs(options["header"], ":")) };
  }
  const cwd = options["cwd"];
  return {
    command: first,
    ...(rest.length > 0 ? { args: rest } : {}),
    ...optional("env", readPairs(options["env"], "=")),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function optional(key: string, pairs: Record<string, string>): Record<string, unknown> {
  return Object.keys(pairs).length === 0 ? {} : { [key]: pairs };
}

function readPairs(words: OptionValues[string], separator: string): Record<string, string> {
  const list = Array.isArray(words) ? words : [];
  return Object.fromEntries(
    list.map((word) => {
      const at = word.indexOf(separator);
      if (at < 1) throw new PmlError("usage", `"${word}" is not of the form name${separator}value`);
      return [word.slice(0, at).trim(), word.slice(at + 1).trim()];
    }),
  );
}
