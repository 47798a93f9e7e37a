import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { makeFolder } from "../support/databases.ts";
import { PML, runJson, runPml, type RunResult, until } from "../support/pml.ts";

interface Machine extends AsyncDisposable {
  readonly home: string;
  path(name: string): string;
  read(name: string): string;
  write(name: string, text: string): void;
  connect(...args: string[]): Promise<RunResult>;
}

/** A HOME with clients in it, and a PML_HOME that is not the default one. */
async function machine(files: Record<string, string> = {}): Promise<Machine> {
  const folder = await makeFolder();
  const path = (name: string): string => join(folder.path, name);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const env = { HOME: folder.path };
  write("pml/pml.json", `{ "http": { "port": 0 } }`);
  mkdirSync(path("work"));
  return {
    home: path("pml"),
    path,
    write,
    read: (name) => readFileSync(path(name), "utf8"),
    connect: (...args) => runPml(["connect", ...args], { home: path("pml"), env, cwd: path("work") }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** A configuration file per client, with content that must survive. */
const SAMPLES: Readonly<Record<string, { file: string; text: string }>> = {
  "claude-code": { file: ".claude.json", text: `{"numStartups":3,"mcpServers":{}}` },
  "claude-desktop": { file: ".config/Claude/claude_desktop_config.json", text: `{\n  "globalShortcut": ""\n}\n` },
  cursor: {
    file: ".cursor/mcp.json",
    text: `{\n\t// mine\n\t"mcpServers": {\n\t\t"a": { "command": "a" },\n\t},\n}\n`,
  },
  vscode: { file: ".config/Code/User/mcp.json", text: `{ "servers": { "a": { "command": "a" } }, "inputs": [] }` },
  gemini: { file: ".gemini/settings.json", text: `{\n  "theme": "x", // dark\n  "mcpServers": {}\n}\n` },
  codex: { file: ".codex/config.toml", text: `model = "x" # mine\n\n[mcp_servers.a]\ncommand = "a"\n` },
  copilot: { file: ".copilot/mcp-config.json", text: `` },
  windsurf: { file: ".codeium/windsurf/mcp_config.json", text: `{\r\n  "mcpServers": {}\r\n}\r\n` },
  opencode: { file: ".config/opencode/opencode.jsonc", text: `{ "$schema": "https://opencode.ai/config.json" }\n` },
};

test.each(Object.entries(SAMPLES))(
  "connect %s adds one entry, is idempotent, and undo restores every byte",
  async (id, sample) => {
    await using made = await machine({ [sample.file]: sample.text });
    chmodSync(made.path(sample.file), 0o640);
    const added = await made.connect(id);
    expect([added.code, added.stdout]).toEqual([
      0,
      expect.stringContaining(`added "pml" to ${made.path(sample.file)}`),
    ]);
    expect(added.stderr).toContain(`What was there before: ${made.path(sample.file)}.pml-backup`);
    expect(added.stderr).toContain(`Undo: pml connect ${id} --undo`);
    const written = made.read(sample.file);
    expect(written).toContain(PML);
    expect(written).toContain(made.home);
    expect(statSync(made.path(sample.file)).mode & 0o777).toBe(0o640);
    expect(made.read(`${sample.file}.pml-backup`)).toBe(sample.text);
    expect((await made.connect(id)).stdout).toContain("nothing to do");
    expect(made.read(sample.file)).toBe(written);
    expect((await made.connect()).stdout).toMatch(new RegExp(`^${id}\tconnected\t`, "m"));
    const undone = await made.connect(id, "--undo");
    expect([undone.code, undone.stdout]).toEqual([0, expect.stringContaining("is as it was before")]);
    expect(made.read(sample.file)).toBe(sample.text);
    expect(existsSync(made.path(`${sample.file}.pml-backup`))).toBe(false);
    expect((await made.connect(id, "--undo")).stdout).toContain("nothing to do");
  },
);

test("what is written starts PML: an MCP client that follows it lists tools", async () => {
  await using made = await machine({ ".cursor/mcp.json": "{}" });
  await made.connect("cursor");
  const { mcpServers } = JSON.parse(made.read(".cursor/mcp.json")) as {
    mcpServers: { pml: { command: string; args: string[]; env: Record<string, string> } };
  };
  const client = new Client({ name: "cursor", version: "1" });
  await client.connect(new StdioClientTransport({ ...mcpServers.pml, cwd: made.path("work") }));
  try {
    await until("its tools are listed", async () =>
      (await client.listTools()).tools.some(({ name }) => name === "filesystem__read_text_file"),
    );
    const { content } = await client.callTool({ name: "filesystem__list_allowed_directories", arguments: {} });
    expect(JSON.stringify(content)).toContain(join(made.home, "scratch"));
  } finally {
    await client.close();
    await runPml(["down"], { home: made.home });
  }
});

test("undo takes out the one entry when the file changed since, and leaves what the user did", async () => {
  await using made = await machine({ ".codex/config.toml": `a = 1\n` });
  await made.connect("codex");
  made.write(".codex/config.toml", `# new\n${made.read(".codex/config.toml")}\n[mcp_servers.later]\ncommand = "x"\n`);
  const undone = await made.connect("codex", "--undo");
  expect(undone.stdout).toContain('removed "pml"');
  expect(made.read(".codex/config.toml")).toBe(`# new\na = 1\n\n[mcp_servers.later]\ncommand = "x"\n`);
});

test("connecting again repairs a stale entry and keeps what the user added to it", async () => {
  await using made = await machine({
    ".cursor/mcp.json": `{ "mcpServers": { "pml": { "command": "/gone/node", "args": ["/gone/pml.js", "mcp"], "timeout": 9, "env": { "A": "1" } } } }`,
  });
  expect((await made.connect()).stdout).toMatch(/^cursor\tbroken\t.*it starts \/gone\/node, which does not exist$/m);
  expect((await made.connect("cursor")).stdout).toContain('updated "pml"');
  expect(JSON.parse(made.read(".cursor/mcp.json"))).toEqual({
    mcpServers: {
      pml: { command: process.execPath, args: [PML, "mcp"], timeout: 9, env: { A: "1", PML_HOME: made.home } },
    },
  });
  await made.connect("cursor", "--undo");
  expect(JSON.parse(made.read(".cursor/mcp.json"))).toEqual({ mcpServers: {} });
});

test("two names in one file are undone each for itself", async () => {
  await using made = await machine({ ".cursor/mcp.json": "{}" });
  await made.connect("cursor");
  await made.connect("cursor", "--name", "pml-two");
  await made.connect("cursor", "--undo");
  expect(Object.keys((JSON.parse(made.read(".cursor/mcp.json")) as { mcpServers: object }).mcpServers)).toEqual([
    "pml-two",
  ]);
});

test("a client that is not here is named with the places looked at; --force makes its file, undo removes it", async () => {
  await using made = await machine();
  const missing = await made.connect("windsurf");
  expect([missing.code, missing.stdout]).toEqual([EXIT.notFound, ""]);
  expect(missing.stderr).toContain(made.path(".codeium/windsurf/mcp_config.json"));
  expect(missing.stderr).toContain("pml connect windsurf --force");
  expect((await made.connect("windsurf", "--force")).stdout).toContain('added "pml"');
  expect(statSync(made.path(".codeium/windsurf/mcp_config.json")).mode & 0o777).toBe(0o600);
  expect((await made.connect("windsurf", "--undo")).stdout).toContain("deleted");
  expect(existsSync(made.path(".codeium/windsurf/mcp_config.json"))).toBe(false);
});

test("a link stays a link; a dangling one, a read-only file and a broken one are refused unchanged", async () => {
  await using made = await machine({
    "dotfiles/mcp.json": "{}",
    ".gemini/settings.json": "{ broken",
    ".copilot/mcp-config.json": "{}",
  });
  mkdirSync(made.path(".cursor"));
  symlinkSync(made.path("dotfiles/mcp.json"), made.path(".cursor/mcp.json"));
  const linked = await made.connect("cursor");
  expect(linked.stdout).toContain(`(a link to ${made.path("dotfiles/mcp.json")})`);
  expect(lstatSync(made.path(".cursor/mcp.json")).isSymbolicLink()).toBe(true);
  expect(made.read("dotfiles/mcp.json")).toContain("pml");

  mkdirSync(made.path(".codex"));
  symlinkSync(made.path("nowhere.toml"), made.path(".codex/config.toml"));
  expect((await made.connect("codex")).stderr).toContain("it is a link to a file that does not exist");
  chmodSync(made.path(".copilot/mcp-config.json"), 0o444);
  const readOnly = await made.connect("copilot");
  expect(readOnly.code).toBe(EXIT.failed);
  expect(readOnly.stderr).toContain(`chmod u+w ${made.path(".copilot/mcp-config.json")}`);
  expect(made.read(".copilot/mcp-config.json")).toBe("{}");
  // If one of several files cannot be written, none is.
  mkdirSync(made.path(".codeium/windsurf"), { recursive: true });
  const both = await made.connect("windsurf", "gemini");
  expect([both.code, both.stdout]).toEqual([EXIT.failed, ""]);
  expect(both.stderr).toContain("settings.json cannot be used: line 1");
  expect(existsSync(made.path(".codeium/windsurf/mcp_config.json"))).toBe(false);
});

test("an entry of that name that is not PML is not touched", async () => {
  const text = `{ "mcpServers": { "pml": { "command": "other" } } }`;
  await using made = await machine({ ".cursor/mcp.json": text });
  for (const flag of [[], ["--undo"]]) {
    const refused = await made.connect("cursor", ...flag);
    expect([refused.code, made.read(".cursor/mcp.json")]).toEqual([EXIT.failed, text]);
    expect(refused.stderr).toContain('"pml" in');
  }
});

test("--print shows and writes nothing, --project uses the folder's file, unknown clients are suggested", async () => {
  await using made = await machine();
  const printed = await made.connect("codex", "--print");
  expect(printed.stdout).toMatch(/^\[mcp_servers\.pml\]\ncommand = /);
  expect(existsSync(made.path(".codex"))).toBe(false);
  expect((await made.connect("cursor", "--project")).stdout).toContain(made.path("work/.cursor/mcp.json"));
  expect(existsSync(made.path(".cursor"))).toBe(false);
  expect((await made.connect("windsurf", "--project")).code).toBe(EXIT.usage);
  expect((await made.connect("cursr")).stderr).toContain("Did you mean cursor?");
  expect((await made.connect("claude")).stderr).toContain("claude-code or claude-desktop");
  const listed = await runJson<{ client: string; state: string }[]>(["connect"], {
    home: made.home,
    env: { HOME: made.path("") },
  });
  expect(listed.map(({ state }) => state)).toEqual(listed.map(() => "no-client"));
});
