import { join } from "node:path";
import { findClosest } from "../base/closest.ts";
import { PmlError } from "../base/errors.ts";
import type { PmlLaunch } from "./launch.ts";
import type { ConfigFolders } from "./config-folders.ts";

/** An MCP client whose configuration PML can read and write. */
export interface Client {
  readonly id: string;
  readonly title: string;
  readonly format: "json" | "toml";
  /** The key in its file that holds the servers by name. */
  readonly key: readonly [string];
  /** Candidates for the user's own configuration; the first that exists wins, or the first if none does. */
  readonly user: (folders: ConfigFolders) => readonly [string, ...string[]];
  /** Candidates for a project's configuration, below its folder; empty if the client has none. */
  readonly project: readonly string[];
  /** Further files that are read and never written. */
  readonly alsoReads?: (folders: ConfigFolders) => readonly string[];
  /** Files and folders that prove that the client is used here. */
  readonly signs: (folders: ConfigFolders) => readonly string[];
  /** Returns PML's entry in this client's own form. */
  readonly entry: (launch: PmlLaunch) => Record<string, unknown>;
  /** The step the user must take before the client sees the change. */
  readonly afterwards: string;
}

const plain = ({ command, args, env }: PmlLaunch): Record<string, unknown> => ({
  command,
  args,
  ...(Object.keys(env).length === 0 ? {} : { env }),
});
const typed = (launch: PmlLaunch): Record<string, unknown> => ({ type: "stdio", ...plain(launch) });

export const CLIENTS: readonly Client[] = [
  {
    id: "claude-code",
    title: "Claude Code",
    format: "json",
    key: ["mcpServers"],
    user: ({ home, env }) => [join(env["CLAUDE_CONFIG_DIR"] || home, ".claude.json")],
    project: [".mcp.json"],
    signs: ({ home, env }) => [env["CLAUDE_CONFIG_DIR"] || join(home, ".claude")],
    entry: typed,
    afterwards: "Start a new session of Claude Code, or type /mcp in a running one",
  },
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    format: "json",
    key: ["mcpServers"],
    user: ({ appData }) => [join(appData, "Claude", "claude_desktop_config.json")],
    project: [],
    signs: ({ appData }) => [join(appData, "Claude")],
    entry: plain,
    afterwards: "Quit Claude Desktop and open it again",
  },
  {
    id: "cursor",
    title: "Cursor",
    format: "json",
    key: ["mcpServers"],
    user: ({ home }) => [join(home, ".cursor", "mcp.json")],
    project: [".cursor/mcp.json"],
    signs: ({ home }) => [join(home, ".cursor")],
    entry: plain,
    afterwards: "Switch it on in Cursor's settings under MCP",
  },
  {
    id: "vscode",
    title: "VS Code",
    format: "json",
    key: ["servers"],
    user: ({ appData }) => [join(appData, "Code", "User", "mcp.json")],
    project: [".vscode/mcp.json"],
    alsoReads: ({ appData, project }) => [
      join(appData, "Code", "User", "settings.json"),
      join(project, ".vscode", "settings.json"),
    ],
    signs: ({ appData }) => [join(appData, "Code")],
    entry: typed,
    afterwards: "VS Code asks once whether to trust it: MCP: List Servers",
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    format: "json",
    key: ["mcpServers"],
    user: ({ home }) => [join(home, ".gemini", "settings.json")],
    project: [".gemini/settings.json"],
    signs: ({ home }) => [join(home, ".gemini")],
    entry: plain,
    afterwards: "Start Gemini CLI again",
  },
  {
    id: "codex",
    title: "Codex",
    format: "toml",
    key: ["mcp_servers"],
    user: ({ home, env }) => [join(env["CODEX_HOME"] || join(home, ".codex"), "config.toml")],
    project: [".codex/config.toml"],
    signs: ({ home, env }) => [env["CODEX_HOME"] || join(home, ".codex")],
    entry: plain,
    afterwards: "Start Codex again",
  },
  {
    id: "copilot",
    title: "Copilot CLI",
    format: "json",
    key: ["mcpServers"],
    user: ({ home, env }) => [join(env["COPILOT_HOME"] || join(home, ".copilot"), "mcp-config.json")],
    project: [".github/mcp.json"],
    alsoReads: ({ project }) => [join(project, ".mcp.json")],
    signs: ({ home, env }) => [env["COPILOT_HOME"] || join(home, ".copilot")],
    entry: (launch) => ({ ...typed(launch), tools: ["*"] }),
    afterwards: "Start Copilot CLI again",
  },
  {
    id: "windsurf",
    title: "Windsurf",
    format: "json",
    key: ["mcpServers"],
    user: ({ home }) => [join(home, ".codeium", "windsurf", "mcp_config.json")],
    project: [],
    signs: ({ home }) => [join(home, ".codeium", "windsurf")],
    entry: plain,
    afterwards: "Press refresh in Windsurf's MCP panel",
  },
  {
    id: "opencode",
    title: "opencode",
    format: "json",
    key: ["mcp"],
    user: ({ xdgConfig }) => [
      join(xdgConfig, "opencode", "opencode.json"),
      join(xdgConfig, "opencode", "opencode.jsonc"),
      join(xdgConfig, "opencode", "config.json"),
    ],
    project: ["opencode.json", "opencode.jsonc"],
    signs: ({ xdgConfig, home }) => [join(xdgConfig, "opencode"), join(home, ".opencode")],
    entry: ({ command, args, env }) => ({
      type: "local",
      command: [command, ...args],
      enabled: true,
      ...(Object.keys(env).length === 0 ? {} : { environment: env }),
    }),
    afterwards: "Start opencode again",
  },
];

export function findClient(id: string): Client | undefined {
  return CLIENTS.find((client) => client.id === id);
}

export function findClosestClient(word: string): string | undefined {
  return findClosest(
    word,
    CLIENTS.map((each) => each.id),
  );
}

export function getClient(id: string): Client {
  const client = findClient(id);
  if (client !== undefined) return client;
  const closest = id === "claude" ? "claude-code or claude-desktop" : findClosestClient(id);
  const known = CLIENTS.map((each) => each.id).join(", ");
  const hint = closest === undefined ? `Known clients: ${known}` : `Did you mean ${closest}?`;
  throw new PmlError("usage", `Unknown client "${id}"`, { hint });
}
