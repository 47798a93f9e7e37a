/** Errors a newcomer meets: each says what happened, why, and what to do next. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { PML, runPml, testEnvironment } from "../support/pml.ts";

test.each([
  ["a syntax error", `{ "http": `, 1, /pml\.json:1:11 is not valid JSON/, /Look at this line/, "PML-E1002"],
  [
    "an unknown key",
    `{ "htpp": {} }`,
    1,
    /pml\.json:1:3: "htpp" is not a known key/,
    /Did you mean "http"\?/,
    "PML-E1003",
  ],
  [
    "a wrong type",
    `{ "http": { "port": true } }`,
    1,
    /"http\.port" invalid input: expected number/,
    /docs\/reference\/config\.md/,
    "PML-E1003",
  ],
])("config with %s", async (_name, text, code, message, hint, id) => {
  await using home = await makeFolder();
  writeFileSync(join(home.path, "pml.json"), text);
  for (const command of ["serve", "up"]) {
    const result = await runPml([command], { home: home.path, env: { PML_PORT: "" } });
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(result.stderr).toMatch(hint);
    expect(result.stderr).toContain(id);
  }
});

test("a config file that does not exist", async () => {
  await using home = await makeFolder();
  const { code, stderr } = await runPml(["serve", "--config", "nope.json"], { home: home.path });
  expect(code).toBe(1);
  expect(stderr).toMatch(/Cannot read the configuration file .*nope\.json: it does not exist/);
});

test("a directory that another process owns", async () => {
  await using home = await makeFolder();
  await runPml(["up"], { home: home.path });
  const { code, stderr } = await runPml(["serve"], { home: home.path });
  expect(code).toBe(1);
  expect(stderr).toMatch(/is owned by another process \(pid \d+\)/);
  expect(stderr).toContain("pml status");
  await runPml(["down"], { home: home.path });
});

test("a data directory of another engine version", async () => {
  await using home = await makeFolder();
  mkdirSync(join(home.path, "data"));
  writeFileSync(join(home.path, "data", "PG_VERSION"), "17");
  const { code, stderr } = await runPml(["serve"], { home: home.path });
  expect(code).toBe(1);
  expect(stderr).toContain("was written by engine version 17; this PML has version 18. Nothing was changed");
  expect(stderr).toContain("pml export -o memory.pml");
  const doctor = await runPml(["doctor"], { home: home.path });
  expect(doctor.code).toBe(8);
  expect(doctor.stdout).toContain("✗ storage");
});

test("a PML_HOME that cannot be written", async () => {
  await using home = await makeFolder();
  const locked = join(home.path, "locked");
  mkdirSync(locked, { mode: 0o555 });
  // root may write anywhere, so the command then runs as another user
  const asRoot = process.getuid?.() === 0;
  const nobody = asRoot ? { uid: 65_534, gid: 65_534 } : {};
  chmodSync(home.path, 0o755);
  if (asRoot) chownSync(home.path, 65_534, 65_534);
  const { status, stderr } = spawnSync(process.execPath, [PML, "serve"], {
    ...nobody,
    env: testEnvironment({ home: locked }),
    cwd: "/",
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/Cannot use .*locked as PML_HOME/);
  expect(stderr).toContain("PML_HOME=/other/dir");
});

test("a PML_HOME below a file", async () => {
  await using home = await makeFolder();
  writeFileSync(join(home.path, "file"), "");
  const env = { PML_HOME: join(home.path, "file", "home") };
  for (const command of ["serve", "up"]) {
    const { code, stderr } = await runPml([command], { home: home.path, env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/Cannot use .*file\/home as PML_HOME: ENOTDIR/);
  }
});

test("a PostgreSQL server that is not there", async () => {
  await using home = await makeFolder();
  const { code, stderr } = await runPml(["serve", "--pg", "postgres://me:hidden@127.0.0.1:1/pml"], { home: home.path });
  expect(code).toBe(7);
  expect(stderr).toContain("postgres://me@127.0.0.1:1/pml does not answer: connect ECONNREFUSED");
  expect(stderr).toContain("pg_isready");
  expect(stderr).not.toContain("hidden");
});

test("a PostgreSQL server that refuses the password, or has no such database", async () => {
  await using home = await makeFolder();
  const url = inject("postgresUrl");
  const wrong = await runPml(["serve", "--pg", `${url.replace(/:[^:@]*@/, ":wr0ng@")}postgres`], { home: home.path });
  expect(wrong.code).toBe(7);
  expect(wrong.stderr).toMatch(/does not let this user in: password authentication failed/);
  expect(wrong.stderr).not.toContain("wr0ng");
  const missing = await runPml(["up", "--pg", `${url}not_there`], { home: home.path });
  expect(missing.code).toBe(7);
  expect(missing.stderr).toContain(`there is no database "not_there" on that server`);
  expect(missing.stderr).toContain("createdb not_there");
});

test("an address that is no PostgreSQL URL", async () => {
  await using home = await makeFolder();
  const { code, stderr } = await runPml(["serve", "--pg", "mysql://localhost/x"], { home: home.path });
  expect(code).toBe(1);
  expect(stderr).toContain("must begin with postgres://");
});

test("no daemon, where one must not be started", async () => {
  await using home = await makeFolder();
  const { code, stderr } = await runPml(["export", "--no-start"], { home: home.path });
  expect(code).toBe(7);
  expect(stderr).toContain(`No PML daemon runs for ${home.path}`);
  expect(stderr).toContain("Start it: pml up");
});

test("a file that is not there, and an export into a directory that is not there", async () => {
  await using home = await makeFolder();
  const read = await runPml(["import", "nope.pml"], { home: home.path });
  expect(read.code).toBe(1);
  expect(read.stderr).toContain("Cannot read nope.pml");
  const written = await runPml(["export", "-o", "/nowhere/x.pml"], { home: home.path });
  expect(written.code).toBe(1);
  expect(written.stderr).toContain("could not be written to /nowhere/x.pml");
  await runPml(["down"], { home: home.path });
});
