import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { startGateway } from "../support/gateway-home.ts";
import { makeFolder } from "../support/databases.ts";
import { runPml, spawnPml, until } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const talker = (text: string): { command: string; args: string[]; env: Record<string, string> } => ({
  command: "/bin/sh",
  args: ["-c", `echo "${text}" >&2; exit 3`],
  env: { API_KEY: "very-secret-value" },
});

function line(msg: string): string {
  return `${JSON.stringify({ level: "info", time: new Date().toISOString(), msg })}\n`;
}

test("logs show the daemon and what servers wrote, without secrets, also when nothing runs any more", async () => {
  await using gateway = await startGateway({
    everything: servers.everything,
    leaky: talker("licence $API_KEY has expired"),
  });
  await gateway.ready("everything");
  const options = { home: gateway.path };
  await until("it gave up once", async () => (await gateway.server("leaky")).state === "backoff");
  const detail = await runPml(["servers", "leaky"], options);
  expect(detail.stdout).toContain("last error\tit exited with code 3");
  expect(detail.stdout).toMatch(/stderr: licence ‹secret, 17 chars, #[0-9a-f]{12}› has expired/);
  const ready = await runPml(["servers", "everything"], options);
  expect(ready.stdout).toMatch(/^process\tpid \d+$/m);
  expect(ready.stdout).toMatch(/^restarts\t0$/m);
  await runPml(["down"], options);

  const all = await runPml(["logs"], options);
  expect(all.stdout).toMatch(/^\S+Z\tinfo\tpml\tready pid=\d+/m);
  expect(all.stdout).toMatch(/^\S+Z\tinfo\teverything\tserver connected ms=\d+$/m);
  const one = await runPml(["logs", "leaky"], options);
  expect(one.stdout).toMatch(/^\S+Z\tstderr\tleaky\tlicence ‹secret, 17 chars, #[0-9a-f]{12}› has expired$/m);
  expect(one.stdout).toMatch(/^\S+Z\twarn\tleaky\tserver not available error=it exited with code 3$/m);
  expect(one.stdout).not.toContain("everything");
  const times = all.stdout
    .trim()
    .split("\n")
    .map((text) => Date.parse(text.split("\t")[0] ?? ""));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  for (const file of ["daemon.log", "logs/leaky.log"])
    expect(readFileSync(join(gateway.path, file), "utf8")).not.toContain("very-secret-value");

  const warnings = await runPml(["logs", "--level", "warn", "--since", "1h", "--json"], options);
  const entries = warnings.stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text) as { level: string; source: string });
  expect(new Set(entries.map(({ level, source }) => `${level} ${source}`))).toEqual(new Set(["warn leaky"]));
  expect((await runPml(["logs", "-n", "2"], options)).stdout.trim().split("\n")).toHaveLength(2);
  const unknown = await runPml(["logs", "nobody"], options);
  expect(unknown).toMatchObject({ code: EXIT.notFound, stderr: expect.stringContaining("everything, leaky") });
  expect((await runPml(["logs", "--since", "soon"], options)).code).toBe(EXIT.usage);
});

test("logs --follow goes on, over a rotation and into files that come later", async () => {
  await using home = await makeFolder();
  const file = join(home.path, "daemon.log");
  mkdirSync(join(home.path, "logs"));
  writeFileSync(file, line("before"));
  const follower = spawnPml(["logs", "--follow", "--json"], { home: home.path });
  let output = "";
  follower.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const messages = (): string[] =>
    output
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((text) => (JSON.parse(text) as { message: string }).message);
  try {
    await until("what was there", () => messages().includes("before"));
    const whole = line("in two pieces");
    appendFileSync(file, whole.slice(0, 20));
    writeFileSync(join(home.path, "logs", "late.log"), line("from a server"));
    await until("a file that came later", () => messages().includes("from a server"));
    appendFileSync(file, whole.slice(20));
    await until("what came in pieces", () => messages().includes("in two pieces"));
    appendFileSync(file, line("last of the old"));
    writeFileSync(`${file}.old`, readFileSync(file));
    writeFileSync(file, line("first of the new"));
    await until("the rotated file", () => messages().includes("first of the new"));
    appendFileSync(file, "Error: a crash\n");
    await until("what is no line of a log", () => messages().includes("Error: a crash"));
    expect(messages()).toEqual([
      "before",
      "from a server",
      "in two pieces",
      "last of the old",
      "first of the new",
      "Error: a crash",
    ]);
  } finally {
    follower.kill("SIGTERM");
    await once(follower, "close");
  }
});
