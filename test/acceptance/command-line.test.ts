import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { makeFolder } from "../support/databases.ts";
import { freePort } from "../support/free-port.ts";
import { PML, runJson, runPml } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

test("an old Node gets one line that says what to do, before anything is loaded", () => {
  const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", pretend, PML, "up", "--port", "1"], {
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toBe("PML needs Node 24 or newer, this is 20.20.2. Try: npx -p node@24 -p pml pml up --port 1\n");
});

test("pml alone welcomes a newcomer and later tells the status", async () => {
  await using home = await makeFolder();
  const welcome = await runPml([], { home: join(home.path, "new"), cwd: home.path });
  expect(welcome.code).toBe(0);
  expect(welcome.stdout.split("\n")).toHaveLength(4);
  expect(existsSync(join(home.path, "new"))).toBe(false);
  await runPml(["up"], { home: home.path });
  expect((await runPml([], { home: home.path })).stdout).toContain("gateway\thttp://127.0.0.1:");
  await runPml(["down"], { home: home.path });
});

test.each([
  [["sttus"], 'There is no command "sttus"', "Did you mean: pml status"],
  [["status", "--jsn"], "unknown option '--jsn'", "Did you mean --json?"],
  [["serve", "--port", "high"], "'high' is invalid", "pml --help"],
  [["import"], "missing required argument 'source'", "pml --help"],
])("a usage error exits 2 and helps: pml %j", async (args, message, hint) => {
  await using home = await makeFolder();
  const { code, stdout, stderr } = await runPml(args, { home: home.path });
  expect([code, stdout]).toEqual([EXIT.usage, ""]);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});

test("with --json an error is a document on stdout as well", async () => {
  await using home = await makeFolder();
  const { code, stdout, stderr } = await runPml(["backup", "--no-start", "--json"], { home: home.path });
  expect(code).toBe(EXIT.unreachable);
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    error: {
      code: "daemon_unreachable",
      id: "PML-E4001",
      message: `No PML daemon runs for ${home.path}`,
      hint: "Start it: pml up",
      docs: "docs/reference/errors.md#pml-e4001",
    },
  });
  expect(stderr).toContain("✗ No PML daemon runs");
});

test("--fields trims the document, --quiet drops what is only said", async () => {
  await using home = await makeFolder();
  expect(await runJson(["status", "--fields", "running"], { home: home.path })).toEqual({ running: false });
  expect((await runPml(["status", "--quiet"], { home: home.path })).stderr).toBe("");
});

test("colours only where they are wanted", async () => {
  await using home = await makeFolder();
  const colored = await runPml(["sttus"], { home: home.path, env: { FORCE_COLOR: "1" } });
  expect(colored.stderr).toContain("\u001B[31m");
  for (const env of [{}, { FORCE_COLOR: "1", NO_COLOR: "1" }]) {
    expect((await runPml(["sttus"], { home: home.path, env })).stderr).not.toContain("\u001B[");
  }
  expect((await runPml(["doctor", "--no-color"], { home: home.path, env: { FORCE_COLOR: "1" } })).stdout).not.toContain(
    "\u001B[",
  );
});

test("help names every command with examples, and its machine-readable form lists exit codes", async () => {
  await using home = await makeFolder();
  const help = await runPml(["--help"], { home: home.path });
  for (const name of ["serve", "up", "down", "mcp", "status", "doctor", "export", "import", "backup", "completion"]) {
    expect(help.stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  }
  expect((await runPml(["export", "--help"], { home: home.path })).stdout).toMatch(
    /^Examples:\n  pml export -o memory\.pml\n/,
  );
  const manifest = await runJson<{ commands: { name: string }[]; exitCodes: unknown }>(["help"], { home: home.path });
  expect(manifest.commands.map(({ name }) => name)).toContain("export");
  expect(manifest.exitCodes).toEqual({
    ok: 0,
    failed: 1,
    usage: 2,
    notFound: 3,
    needsPerson: 4,
    toolError: 5,
    refused: 6,
    unreachable: 7,
    checkFailed: 8,
    interrupted: 130,
  });
});

test("completion prints a script for each shell and completes commands", async () => {
  await using home = await makeFolder();
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const { code, stdout } = await runPml(["completion", shell], { home: home.path });
    expect([code, stdout.includes("pml")], shell).toEqual([0, true]);
  }
  expect((await runPml(["complete", "--", "ex"], { home: home.path })).stdout).toMatch(/^export\t/m);
});

test("doctor checks what there is, names the unset variable of a server, and --fix repairs what is safe", async () => {
  await using home = await makeFolder();
  const config = join(home.path, "pml.json");
  const ok = JSON.stringify(servers.everything);
  writeFileSync(
    config,
    `{ "mcpServers": { "gh": { "command": "true", "env": { "T": "\${GH_TOKEN_UNSET}" }, "disabled": false }, "ok": ${ok} } }`,
  );
  chmodSync(config, 0o644);
  const broken = await runPml(["doctor"], { home: home.path });
  expect(broken.code).toBe(EXIT.checkFailed);
  expect(broken.stdout).toContain("✗ server gh  GH_TOKEN_UNSET is not set");
  expect(broken.stdout).toMatch(/✓ server ok {2}\d+ tools, protocol 2025-11-25, started in \d+ ms/);
  expect(broken.stdout).toContain("ok:simulate-research-query is hidden: it can only be run as a task");
  expect(broken.stdout).toContain(`! secrets  ${config} can be read by every user`);
  writeFileSync(config, `{ "mcpServers": { "ok": ${ok} } }`);
  const fixed = await runPml(["doctor", "--fix"], { home: home.path });
  expect(fixed.code).toBe(EXIT.ok);
  expect(statSync(config).mode & 0o007).toBe(0);
});

test.each(["started for it", "those of the running daemon"])(
  "doctor says of each server which step failed, and how to fix it: %s",
  async (whose) => {
    await using home = await makeFolder();
    const options = { home: home.path };
    writeConfig(home.path, {
      upstream: { connectSeconds: 5 },
      mcpServers: {
        good: servers.chaos("good"),
        missing: { command: "no-such-command-here" },
        dies: servers.chaos("dies", "--never-start"),
        hangs: { ...servers.chaos("hangs", "--hang-start") },
        off: { command: "x", disabled: true },
      },
    });
    if (whose !== "started for it") await runPml(["up"], options);
    const { code, stdout } = await runPml(["doctor"], options);
    await runPml(["down"], options);
    expect(code).toBe(EXIT.checkFailed);
    expect(stdout).toMatch(/✓ server good {2}\d+ tools/);
    expect(stdout).toContain("✗ server missing  its command no-such-command-here was not found in the PATH");
    expect(stdout).toContain("✗ server dies  it exited with code 3\n      stderr: chaos: a first line\n");
    expect(stdout).toMatch(/✗ server hangs {2}it did not answer within \d/);
    expect(stdout).toContain("      stderr: chaos: waiting for a database");
    expect(stdout).toContain("✓ server off  disabled");
    expect(stdout).toMatch(/✓ names {2}\d+ tools of servers, \d+ renamed/);
    expect(stdout).toContain("another tool has the same name but for punctuation");
  },
);

test("doctor checks the clients' entries, the port and the database of a running daemon", async () => {
  await using home = await makeFolder();
  const port = await freePort();
  const options = { home: home.path, env: { HOME: home.path, PML_PORT: String(port) } };
  mkdirSync(join(home.path, ".cursor"));
  mkdirSync(join(home.path, ".gemini"));
  writeFileSync(
    join(home.path, ".cursor", "mcp.json"),
    `{ "mcpServers": { "pml": { "command": "/gone/node", "args": ["/gone/pml.js", "mcp"] } } }`,
  );
  const stale = await runPml(["doctor"], options);
  expect(stale.code).toBe(EXIT.checkFailed);
  expect(stale.stdout).toContain("it starts /gone/node, which does not exist\n    Write it anew: pml connect cursor");
  expect(stale.stdout).toContain("✓ client gemini  not connected; connect it with: pml connect gemini");
  expect(stale.stdout).toContain(`✓ port  ${port} is free`);
  await runPml(["connect", "cursor"], options);
  await runPml(["up"], options);
  const good = await runJson<{ healthy: boolean; checks: { check: string; value: string }[] }>(["doctor"], options);
  await runPml(["down"], options);
  expect(good.healthy).toBe(true);
  const values = Object.fromEntries(good.checks.map(({ check, value }) => [check, value]));
  expect(values["client cursor"]).toContain('connected as "pml"');
  expect(values["database"]).toMatch(/^pglite at .* answers, schema \d+$/);
  const blocker = createServer().listen(port, "127.0.0.1");
  await once(blocker, "listening");
  const taken = await runPml(["doctor"], options);
  blocker.close();
  expect(taken.code).toBe(EXIT.checkFailed);
  expect(taken.stdout).toContain(`✗ port  ${port} is taken by `);
});

test("nothing but the answer goes to stdout, whatever the log level", async () => {
  await using home = await makeFolder();
  const env = { PML_LOG_LEVEL: "debug" };
  const { stdout } = await runPml(["export"], { home: home.path, env });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(Object.keys(lines[0] ?? {})).toContain("pml_export");
  expect(Object.keys(lines.at(-1) ?? {})).toContain("pml_export_end");
  await runPml(["down"], { home: home.path });
});
