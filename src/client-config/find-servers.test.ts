/** A sample of every client's own format, in its own place, and the entries that PML imports. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import type { Environment } from "../config/environment.ts";
import { getClient } from "./client-table.ts";
import { findClientServers, findFileServers } from "./find-servers.ts";
import { findConfigFolders } from "./config-folders.ts";
import { planImport, type PlannedServer } from "./plan-import.ts";

interface FakeMachine {
  readonly home: string;
  readonly project: string;
  plan(client: string, env?: Environment): PlannedServer[];
  entries(client: string): Record<string, unknown>;
}

async function machine(files: Record<string, string>): Promise<FakeMachine & AsyncDisposable> {
  const folder = await makeFolder();
  const home = join(folder.path, "home");
  const project = join(home, "work");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text.replaceAll("@project", project));
  }
  mkdirSync(project, { recursive: true });
  const plan: FakeMachine["plan"] = (client, env = {}) => {
    const folders = findConfigFolders({ HOME: home, ...env }, project, "linux");
    const { servers } = findClientServers([getClient(client)], folders);
    return planImport(servers, {}, { home, folder: project, only: undefined, replace: false, ownPorts: [] });
  };
  return {
    home,
    project,
    plan,
    entries: (client) => Object.fromEntries(plan(client).map(({ name, entry }) => [name, entry])),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("findClientServers reads Claude Code: the user's servers, those of every project, and .mcp.json", async () => {
  await using made = await machine({
    ".claude.json": JSON.stringify({
      numStartups: 3,
      mcpServers: {
        github: { type: "stdio", command: "npx", args: ["-y", "gh"], env: { T: "${GH}" } },
        web: { type: "http", url: "https://a.example/mcp", headers: { Authorization: "Bearer ${T:-none}" } },
      },
      projects: {
        "@project": { mcpServers: { db: { command: "./db.sh" } }, disabledMcpServers: ["db"] },
        "/elsewhere": { mcpServers: { other: { type: "sse", url: "https://b.example/sse" } }, history: [] },
      },
    }),
    "work/.mcp.json": `{ "mcpServers": { "shared": { "command": "x" } } }`,
  });
  expect(made.entries("claude-code")).toEqual({
    github: { command: "npx", args: ["-y", "gh"], env: { T: "${GH}" } },
    web: { type: "http", url: "https://a.example/mcp", headers: { Authorization: "Bearer ${T:-none}" } },
    db: { command: "./db.sh", cwd: made.project, disabled: true },
    other: { type: "sse", url: "https://b.example/sse" },
    shared: { command: "x", cwd: made.project },
  });
});

test("findClientServers reads Claude Desktop, with comments and a trailing comma", async () => {
  await using made = await machine({
    ".config/Claude/claude_desktop_config.json": `{\n  // mine\n  "mcpServers": { "files": { "command": "npx", "args": ["fs", "/data"], }, },\n}`,
  });
  expect(made.entries("claude-desktop")).toEqual({ files: { command: "npx", args: ["fs", "/data"] } });
});

test("findClientServers reads Cursor: ${env:…}, ${userHome} and ${workspaceFolder}", async () => {
  await using made = await machine({
    ".cursor/mcp.json": `{ "mcpServers": {
      "a": { "command": "node", "args": ["\${userHome}/s.js", "\${workspaceFolder}"], "env": { "K": "\${env:KEY}" }, "autoApprove": [] } } }`,
    "work/.cursor/mcp.json": `{ "mcpServers": { "b": { "command": "x", "args": ["\${workspaceFolderBasename}\${/}y"] },
      "c": { "command": "x", "cwd": "sub" }, "d": { "command": "x", "cwd": "\${env:ROOT}/d", "envFile": "~/.env" } } }`,
  });
  expect(made.entries("cursor")).toEqual({
    a: { command: "node", args: [`${made.home}/s.js`, made.project], env: { K: "${KEY}" } },
    b: { command: "x", args: ["work/y"], cwd: made.project },
    c: { command: "x", cwd: join(made.project, "sub") },
    d: { command: "x", cwd: "${ROOT}/d", envFile: "${HOME}/.env" },
  });
  expect(made.plan("cursor")[0]?.notes).toEqual([
    `\${workspaceFolder} became ${made.project}`,
    'not taken over, PML has no such setting: "autoApprove"',
  ]);
});

test("findClientServers reads VS Code: servers and inputs, envFile, and the older place in settings.json", async () => {
  await using made = await machine({
    ".config/Code/User/mcp.json": JSON.stringify({
      inputs: [
        { type: "promptString", id: "gh-token", description: "GitHub token", password: true },
        { type: "promptString", id: "region", default: "eu" },
      ],
      servers: {
        github: { type: "stdio", command: "gh", env: { T: "${input:gh-token}", R: "${input:region}" } },
        cmd: { command: "x", args: ["${command:pick}"] },
      },
    }),
    ".config/Code/User/settings.json": `{ "editor.fontSize": 12, "mcp": { "servers": { "old": { "url": "http://127.0.0.1/sse", "type": "sse" } } } }`,
    "work/.vscode/mcp.json": `{ "servers": { "p": { "command": "x", "envFile": "\${workspaceFolder}/.env", "dev": { "watch": "x" } } } }`,
  });
  expect(made.entries("vscode")).toEqual({
    github: { command: "gh", env: { T: "${GH_TOKEN}", R: "${REGION:-eu}" } },
    cmd: { command: "x", args: ["${command:pick}"], disabled: true },
    old: { type: "sse", url: "http://127.0.0.1/sse" },
    p: { command: "x", cwd: made.project, envFile: join(made.project, ".env") },
  });
  const [github, cmd] = made.plan("vscode");
  expect(github?.notes).toContain(
    "${input:gh-token} (GitHub token) became ${GH_TOKEN}: set GH_TOKEN where PML is started",
  );
  expect(cmd?.notes).toEqual([
    'PML cannot fill in ${command:pick}: put its value there; it is imported as "disabled": true until then',
  ]);
});

test("findClientServers reads Gemini CLI: $VAR, httpUrl, milliseconds, allowed and excluded tools, excluded servers", async () => {
  await using made = await machine({
    ".gemini/settings.json": JSON.stringify({
      theme: "x",
      mcp: { excluded: ["off"] },
      mcpServers: {
        a: { command: "x", env: { K: "$KEY", L: "${LEVEL}" }, timeout: 30_000, trust: true, includeTools: ["one"] },
        b: { httpUrl: "https://a.example/mcp", excludeTools: ["two"] },
        off: { command: "y" },
      },
    }),
  });
  expect(made.entries("gemini")).toEqual({
    a: { command: "x", env: { K: "${KEY}", L: "${LEVEL}" }, timeout: 30, tools: ["one"] },
    b: { url: "https://a.example/mcp" },
    off: { command: "y", disabled: true },
  });
  expect(made.plan("gemini").flatMap(({ notes }) => notes)).toEqual([
    'not taken over, PML has no such setting: "trust"',
    '"excludeTools" was not taken over: name the tools that are allowed instead, in "tools"',
  ]);
});

test("findClientServers reads Codex: TOML, forwarded variables, tokens and headers by the name of a variable", async () => {
  await using made = await machine({
    ".codex/config.toml": [
      `model = "x"`,
      `[mcp_servers.a]`,
      `command = "npx"`,
      `args = ["-y", "a"]`,
      `env_vars = ["HOME_TOKEN", { name = "REMOTE", source = "remote" }]`,
      `tool_timeout_sec = 90`,
      `enabled_tools = ["t"]`,
      `startup_timeout_sec = 20`,
      `[mcp_servers.a.env]`,
      `LEVEL = "debug"`,
      `[mcp_servers."b/c"]`,
      `url = "https://a.example/mcp"`,
      `bearer_token_env_var = "TOKEN"`,
      `http_headers = { "X-A" = "1" }`,
      `env_http_headers = { "X-B" = "B_VALUE" }`,
      `enabled = false`,
    ].join("\n"),
  });
  expect(made.entries("codex")).toEqual({
    a: {
      command: "npx",
      args: ["-y", "a"],
      env: { HOME_TOKEN: "${HOME_TOKEN}", REMOTE: "${REMOTE}", LEVEL: "debug" },
      timeout: 90,
      tools: ["t"],
    },
    "b-c": {
      url: "https://a.example/mcp",
      headers: { "X-A": "1", "X-B": "${B_VALUE}", Authorization: "Bearer ${TOKEN}" },
      disabled: true,
    },
  });
  expect(made.plan("codex").flatMap(({ notes }) => notes)).toEqual([
    'not taken over, PML has no such setting: "startup_timeout_sec"',
    '"b/c" is no legal name here, so it is called b-c',
  ]);
});

test("findClientServers reads Copilot CLI, also with COPILOT_HOME", async () => {
  await using made = await machine({
    ".copilot/mcp-config.json": `{ "mcpServers": { "a": { "type": "local", "command": "x", "tools": ["*"] } } }`,
    "moved/mcp-config.json": `{ "mcpServers": { "m": { "type": "http", "url": "https://a.example/mcp", "tools": ["t"] } } }`,
  });
  expect(made.entries("copilot")).toEqual({ a: { command: "x" } });
  expect(made.plan("copilot", { COPILOT_HOME: join(made.home, "moved") })[0]?.entry).toEqual({
    type: "http",
    url: "https://a.example/mcp",
    tools: ["t"],
  });
});

test("findClientServers reads Windsurf: serverUrl, disabled", async () => {
  await using made = await machine({
    ".codeium/windsurf/mcp_config.json": `{ "mcpServers": { "a": { "serverUrl": "https://a.example/\${env:X}", "disabled": true } } }`,
  });
  expect(made.entries("windsurf")).toEqual({ a: { url: "https://a.example/${X}", disabled: true } });
});

test("findClientServers reads opencode: commands as lists, {env:…}, {file:…}", async () => {
  await using made = await machine({
    ".config/opencode/opencode.jsonc": `{ "mcp": {
      "a": { "type": "local", "command": ["npx", "-y", "a"], "environment": { "K": "{env:KEY}" }, "enabled": true },
      "b": { "type": "remote", "url": "https://a.example/mcp", "headers": { "X": "{file:~/.x}" } } } }`,
  });
  expect(made.entries("opencode")).toEqual({
    a: { command: "npx", args: ["-y", "a"], env: { K: "${KEY}" } },
    b: { url: "https://a.example/mcp", headers: { X: "{file:~/.x}" }, disabled: true },
  });
});

test("findFileServers recognises a format by its content, and a project's file by its folder", async () => {
  await using made = await machine({
    "a.conf": `[mcp_servers.x]\ncommand = "x"`,
    "b.txt": `\uFEFF{ "mcpServers": { "y": { "command": "y" } } }`,
    "work/.cursor/mcp.json": `{ "mcpServers": { "z": { "command": "z" } } }`,
    "broken.json": `{ "mcpServers": `,
  });
  const folders = findConfigFolders({ HOME: made.home }, made.project);
  const read = (path: string): unknown[] =>
    findFileServers(join(made.home, path), undefined, folders).servers.map(({ name, project }) => [name, project]);
  expect(read("a.conf")).toEqual([["x", undefined]]);
  expect(read("b.txt")).toEqual([["y", undefined]]);
  expect(read("work/.cursor/mcp.json")).toEqual([["z", made.project]]);
  expect(() => read("broken.json")).toThrow(/broken\.json cannot be read: line 1: /);
});
