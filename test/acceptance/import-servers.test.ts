import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { makeFolder } from "../support/databases.ts";
import { runJson, runPml, type RunResult, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

interface Machine extends AsyncDisposable {
  readonly home: string;
  path(name: string): string;
  config(): { mcpServers?: Record<string, unknown> };
  pml(...args: string[]): Promise<RunResult>;
}

async function machine(files: Record<string, string>): Promise<Machine> {
  const folder = await makeFolder();
  const path = (name: string): string => join(folder.path, name);
  for (const [name, text] of Object.entries({
    "pml/pml.json": `{\n  // mine\n  "http": { "port": 0 }\n}\n`,
    ...files,
  })) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  }
  const home = path("pml");
  mkdirSync(path("work"), { recursive: true });
  return {
    home,
    path,
    config: () => JSON.parse(readFileSync(join(home, "pml.json"), "utf8").replace(/^\s*\/\/.*$/m, "")) as object,
    pml: (...args) => runPml(args, { home, env: { HOME: folder.path }, cwd: path("work") }),
    async [Symbol.asyncDispose]() {
      await runPml(["down"], { home });
      await folder[Symbol.asyncDispose]();
    },
  };
}

const CURSOR = `{
  "mcpServers": {
    "Git/Hub": { "command": "npx", "args": ["-y", "gh"], "env": { "GITHUB_TOKEN": "ghp_literal-secret-1", "H": "\${env:HOST_X}" }, "autoApprove": ["a"] },
    "web": { "url": "https://user:url-secret-2@a.example/mcp?key=url-secret-3", "headers": { "Authorization": "Bearer header-secret-4" } },
    "pml": { "command": "npx", "args": ["-y", "pml", "mcp"] }
  }
}`;
const SECRETS = /literal-secret-1|url-secret-2|url-secret-3|header-secret-4/;

test("import takes over a client's servers, says what changed, and prints no secret", async () => {
  await using made = await machine({ ".cursor/mcp.json": CURSOR });
  const before = statSync(made.path(".cursor/mcp.json")).mtimeMs;
  const dry = await made.pml("import", "cursor", "--dry-run");
  expect(dry.code).toBe(0);
  expect(dry.stderr).toContain("Nothing was changed");
  expect(made.config().mcpServers).toBeUndefined();

  const done = await made.pml("import", "cursor");
  const file = made.path(".cursor/mcp.json");
  expect(done).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^git-hub\tadded\tGit/Hub in ${file}\t$`, "m")),
  });
  expect(done.stdout).toContain(`pml-server\tskipped\tpml in ${file}\tit is PML itself`);
  for (const said of [
    '"Git/Hub" is no legal name here, so it is called git-hub',
    "env.GITHUB_TOKEN holds a secret",
    "headers.Authorization holds a secret",
    'not taken over, PML has no such setting: "autoApprove"',
    "git-hub: HOST_X is not set",
    "Undo: pml remove git-hub; pml remove web",
  ])
    expect(done.stderr).toContain(said);
  const json = await made.pml("import", "cursor", "--dry-run", "--json", "--replace");
  expect(`${dry.stdout}${dry.stderr}${done.stdout}${done.stderr}${json.stdout}${json.stderr}`).not.toMatch(SECRETS);

  expect(made.config().mcpServers).toEqual({
    "git-hub": { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "ghp_literal-secret-1", H: "${HOST_X}" } },
    web: {
      url: "https://user:url-secret-2@a.example/mcp?key=url-secret-3",
      headers: { Authorization: "Bearer header-secret-4" },
    },
  });
  expect(readFileSync(join(made.home, "pml.json"), "utf8")).toContain("// mine");
  expect(statSync(join(made.home, "pml.json")).mode & 0o777).toBe(0o600);
  expect(statSync(file).mtimeMs).toBe(before);
  expect(readFileSync(file, "utf8")).toBe(CURSOR);

  const again = await made.pml("import", "cursor");
  expect(again.stdout).toContain("PML has it already");
  expect(Object.keys(made.config().mcpServers ?? {})).toEqual(["git-hub", "web"]);
});

const ENTRY = `{ "command": "npx", "args": ["-y", "gh"], "env": { "TOKEN": "\${PML_TEST_UNSET}" } }`;

test.each([
  ["claude-code", ".claude.json", `{ "mcpServers": { "hub": ${ENTRY} } }`],
  ["claude-desktop", ".config/Claude/claude_desktop_config.json", `{ "mcpServers": { "hub": ${ENTRY} } }`],
  ["cursor", ".cursor/mcp.json", `{ "mcpServers": { "hub": ${ENTRY.replace("${", "${env:")} } }`],
  ["vscode", ".config/Code/User/mcp.json", `{ "servers": { "hub": ${ENTRY.replace("${", "${env:")} } }`],
  ["gemini", ".gemini/settings.json", `{ "mcpServers": { "hub": ${ENTRY} } }`],
  ["copilot", ".copilot/mcp-config.json", `{ "mcpServers": { "hub": ${ENTRY} } }`],
  [
    "codex",
    ".codex/config.toml",
    `[mcp_servers.hub]\ncommand = "npx"\nargs = ["-y", "gh"]\nenv_vars = ["PML_TEST_UNSET"]\n`,
  ],
])(
  "the servers of %s are read from its own file; one that needs an unset variable names it [mcp-33]",
  async (client, file, text) => {
    await using made = await machine({ [file]: text });
    const done = await made.pml("import", client);
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining(`hub\tadded\thub in ${made.path(file)}`) });
    expect(done.stderr).toContain("hub: PML_TEST_UNSET is not set");
    expect(made.config().mcpServers).toMatchObject({ hub: { command: "npx", args: ["-y", "gh"] } });
  },
);

test("an imported server works, and a running gateway takes it over", async () => {
  await using made = await machine({
    ".codex/config.toml": `[mcp_servers.every_thing]\ncommand = ${JSON.stringify(servers.everything.command)}\nargs = ${JSON.stringify(servers.everything.args)}\n`,
  });
  await made.pml("up");
  await made.pml("import", "codex");
  await until("it is connected", async () => (await made.pml("servers")).stdout.includes("every_thing\tready\t"));
  const echo = await made.pml("call", "every_thing:echo", "--arg", "message=hi");
  expect(echo.stdout).toBe("Echo: hi\n");
});

test("names that are taken get a number, --replace overwrites, --only chooses", async () => {
  await using made = await machine({
    "pml/pml.json": `{ "mcpServers": { "a": { "command": "old" } } }`,
    "x.json": `{ "mcpServers": { "a": { "command": "new" }, "b": { "command": "b" }, "c": { "command": "c" } } }`,
  });
  await made.pml("import", made.path("x.json"), "--only", "a", "b");
  expect(Object.keys(made.config().mcpServers ?? {})).toEqual(["a", "a-2", "b"]);
  await made.pml("import", made.path("x.json"), "--only", "c", "--replace");
  const unknown = await made.pml("import", made.path("x.json"), "--only", "d");
  expect(unknown).toMatchObject({ code: EXIT.notFound, stderr: expect.stringContaining("Found: a, b, c") });
  await made.pml("remove", "a-2");
  expect((await made.pml("import", made.path("x.json"), "--replace")).stdout).toMatch(/^a\treplaced\t/m);
  expect(made.config().mcpServers).toEqual({ a: { command: "new" }, b: { command: "b" }, c: { command: "c" } });
});

test("found nowhere: the places are named; --from reads another file as that client's", async () => {
  await using made = await machine({
    "moved.json": `{ "mcpServers": { "g": { "command": "x", "env": { "K": "$KEY" } } } }`,
  });
  const nowhere = await made.pml("import", "gemini");
  expect([nowhere.code, nowhere.stdout]).toEqual([EXIT.notFound, ""]);
  expect(nowhere.stderr).toContain(made.path(".gemini/settings.json"));
  expect(nowhere.stderr).toContain(made.path("work/.gemini/settings.json"));
  await made.pml("import", "gemini", "--from", made.path("moved.json"));
  expect(made.config().mcpServers).toEqual({ g: { command: "x", env: { K: "${KEY}" } } });
});

test("a client's name is the client, a path is the file, and an export of memory stays one", async () => {
  await using made = await machine({
    "work/cursor": `{ "mcpServers": { "w": { "command": "x" } } }`,
    "work/junk.txt": "= what",
  });
  expect((await made.pml("import", "cursor")).code).toBe(EXIT.notFound);
  expect((await made.pml("import", "./cursor")).stdout).toMatch(/^w\tadded\t/m);
  const junk = await made.pml("import", "junk.txt");
  expect(junk).toMatchObject({ code: EXIT.failed, stderr: expect.stringContaining("junk.txt cannot be read") });
  const exported = made.path("work/memory.json");
  await made.pml("export", "-o", exported);
  expect((await made.pml("import", exported, "--dry-run")).stdout).toContain("is complete: ");
  expect((await made.pml("import", exported, "--only", "x")).code).toBe(EXIT.usage);
  expect((await made.pml("import", "cursor", "--pg", "postgres://x")).code).toBe(EXIT.usage);
});

test("a configuration that would not load is not written", async () => {
  const text = `{ "htpp": {} }`;
  await using made = await machine({ "pml/pml.json": text, "x.json": `{ "mcpServers": { "a": { "command": "x" } } }` });
  const refused = await made.pml("import", made.path("x.json"));
  expect(refused).toMatchObject({ code: EXIT.failed, stderr: expect.stringContaining('"htpp" is not a known key') });
  expect(readFileSync(join(made.home, "pml.json"), "utf8")).toBe(text);
});

test("the document of --json has what was decided about each server", async () => {
  await using made = await machine({ ".cursor/mcp.json": CURSOR });
  const { servers: planned, file } = await runJson<{ file: string; servers: Record<string, unknown>[] }>(
    ["import", "cursor"],
    { home: made.home, env: { HOME: made.path("") } },
  );
  expect(file).toBe(join(made.home, "pml.json"));
  expect(planned).toMatchObject([
    { name: "git-hub", original: "Git/Hub", action: "add", command: "npx", problem: "HOST_X is not set" },
    { name: "web", action: "add", url: "https://a.example/mcp" },
    { name: "pml-server", action: "skip", reason: "it is PML itself" },
  ]);
});
