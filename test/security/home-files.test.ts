/** Files in PML_HOME: other users read none of them, and links lead none of PML's writes elsewhere. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { packageRoot } from "../../src/base/package-info.ts";
import { makeFolder } from "../support/folder.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, testEnvironment, until } from "../support/pml.ts";
import { addressOf, sendRaw } from "../support/raw-http.ts";

/** Entries that other users could read. */
function openToOthers(folder: string): string[] {
  return readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
}

test("L6: in a PML_HOME that was open, other users read nothing, also of files that are there already", async () => {
  await using folder = await makeFolder();
  const home = join(folder.path, "home");
  mkdirSync(home);
  chmodSync(home, 0o755);
  const options = { home, env: { PML_CONFIG: "" } };
  try {
    await runJson(["up"], options);
    await runJson(["backup"], options);
    expect(existsSync(join(home, "memory.jsonl"))).toBe(true);
    expect(openToOthers(home)).toEqual([]);
    await runPml(["down"], options);
    for (const name of readdirSync(home))
      chmodSync(join(home, name), statSync(join(home, name)).isDirectory() ? 0o755 : 0o644);
    await runJson(["up"], options);
    expect(openToOthers(home)).toEqual([]);
    for (const name of ["backups", "data", "logs"]) expect(statSync(join(home, name)).mode & 0o777).toBe(0o700);
    for (const name of ["token", "decision-key", "runs.log", "daemon.log"])
      expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600]);
  } finally {
    await runPml(["down"], options);
  }
}, 60_000);

test.each([
  "token",
  "decision-key",
  "runs.log",
  "daemon.log",
  "owner.pid",
  "trusted.json",
  "daemon.json",
  "start.lock",
])("L6: PML starts with no link as %s, and leaves the link's target alone", async (name) => {
  await using folder = await makeFolder();
  const home = join(folder.path, "home");
  const target = join(folder.path, "precious.txt");
  mkdirSync(home);
  writeFileSync(target, "attacker-knows-this-secret-of-more-than-32-letters\n", { mode: 0o644 });
  symlinkSync(target, join(home, name));
  const { code, stderr } = await runPml(["up"], { home });
  expect(code).toBe(EXIT.failed);
  expect(stderr).toContain(`PML does not use ${join(home, name)}: it is a link`);
  expect(readFileSync(target, "utf8")).toBe("attacker-knows-this-secret-of-more-than-32-letters\n");
  expect(statSync(target).mode & 0o777).toBe(0o644);
});

test("L6: a log of a server that is a link is refused; data on another disk is fine", async () => {
  await using folder = await makeFolder();
  const home = join(folder.path, "home");
  mkdirSync(join(home, "logs"), { recursive: true });
  mkdirSync(join(folder.path, "disk"));
  symlinkSync(join(folder.path, "profile"), join(home, "logs", "filesystem.log"));
  symlinkSync(join(folder.path, "disk"), join(home, "backups"));
  const { stderr } = await runPml(["up"], { home });
  expect(stderr).toContain("filesystem.log: it is a link");
  expect(existsSync(join(folder.path, "profile"))).toBe(false);
  expect(lstatSync(join(home, "backups")).isSymbolicLink()).toBe(true);
});

test("L6: an empty or cut-off token or decision key lets nobody in", async () => {
  await using folder = await makeFolder();
  const home = folder.path;
  writeFileSync(join(home, "token"), "");
  writeFileSync(join(home, "decision-key"), "abc\n");
  try {
    await runJson(["up"], { home });
    const { url, authorization } = addressOf(home);
    expect(authorization.length).toBeGreaterThan(40);
    expect(readFileSync(join(home, "decision-key"), "utf8").length).toBeGreaterThan(40);
    const path = "/api/v1/status";
    for (const headers of [{}, { authorization: "" }, { authorization: "Bearer " }])
      expect((await sendRaw(url, { method: "GET", path, headers })).status).toBe(401);
    expect((await sendRaw(url, { method: "GET", path, headers: { authorization } })).status).toBe(200);
  } finally {
    await runPml(["down"], { home });
  }
}, 30_000);

test("other users read nothing of a database that was made without the template", async () => {
  await using folder = await makeFolder();
  const [root, home] = [join(folder.path, "package"), join(folder.path, "home")];
  for (const path of [root, home]) mkdirSync(path, { mode: 0o755 });
  // the package without its dist/, where the template is
  for (const name of ["bin", "src", "lib", "models", "node_modules", "package.json"])
    symlinkSync(join(packageRoot, name), join(root, name));
  const NODE_OPTIONS = "--preserve-symlinks --preserve-symlinks-main";
  try {
    const env = testEnvironment({ home, env: { NODE_OPTIONS } });
    const started = spawnSync(process.execPath, [join(root, "bin", "pml.js"), "up"], { env, encoding: "utf8" });
    expect([started.status, started.stdout]).toEqual([EXIT.ok, expect.stringContaining("PML started")]);
    expect(existsSync(join(home, "data", "PG_VERSION"))).toBe(true);
    expect(openToOthers(home)).toEqual([]);
  } finally {
    await runPml(["down"], { home });
  }
}, 60_000);

test("a syntax error in pml.json brings no line of it to the log, the terminal or an agent", async () => {
  await using folder = await makeFolder();
  const home = folder.path;
  const file = join(home, "pml.json");
  const secret = "hunter2-of-a-half-written-line";
  writeFileSync(file, "{}");
  try {
    await runJson(["up"], { home });
    await using connected = await connectClient(home);
    writeFileSync(file, `{ "mcpServers": { "x": { "command": "x", "env": { "API_KEY": "${secret}" "B": "" } } } }`);
    const log = (): string => readFileSync(join(home, "daemon.log"), "utf8");
    await until("the daemon has noticed", () => log().includes("is not valid JSON"));
    const asked = await connected.client.callTool({
      name: "pml_execute",
      arguments: { intent: "x", code: "return 1" },
    });
    const { stdout, stderr } = await runPml(["doctor"], { home });
    expect(stdout + stderr).toContain("is not valid JSON");
    for (const text of [log(), stdout, stderr, JSON.stringify(asked)]) expect(text).not.toContain("hunter2");
  } finally {
    writeFileSync(file, "{}");
    await runPml(["down"], { home });
  }
}, 60_000);
