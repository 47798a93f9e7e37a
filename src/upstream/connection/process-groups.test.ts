import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/support/databases.ts";
import { isRunning, until } from "../../../test/support/pml.ts";
import { createLogger } from "../../base/log.ts";
import { ProcessGroups, signalGroup } from "./process-groups.ts";

const log = createLogger({ level: "silent", file: undefined, secrets: [] });

interface Family {
  readonly leader: ChildProcess;
  readonly pid: number;
  readonly child: number;
}

/** A leader of a group that waits for its input to end, and a child that does not. */
async function startFamily(childScript = "sleep 1000"): Promise<Family> {
  const leader = spawn("/bin/sh", ["-c", `(${childScript}) > /dev/null & echo $!; read line`], { detached: true });
  const pid = leader.pid ?? 0;
  onTestFinished(() => signalGroup(pid, "SIGKILL"));
  const [text] = (await once(leader.stdout.setEncoding("utf8"), "data")) as [string];
  return { leader, pid, child: Number(text) };
}

async function endLeader({ leader }: Family): Promise<void> {
  const exited = once(leader, "exit");
  leader.stdin?.end();
  await exited;
}

interface Content {
  boot: string;
  groups: { pid: number; startTicks: number }[];
}

function readContent(home: string): Content {
  return JSON.parse(readFileSync(join(home, "server-processes.json"), "utf8")) as Content;
}

async function endOrphansIn(home: string): Promise<void> {
  await using groups = new ProcessGroups(home, log);
  groups.endOrphans();
}

test("ProcessGroups: the next owner ends what is left of a group, though its leader is gone", async () => {
  await using home = await makeFolder();
  const family = await startFamily();
  const stubborn = await startFamily("trap '' TERM; while :; do sleep 0.1; done");
  const groups = new ProcessGroups(home.path, log);
  for (const { pid } of [family, stubborn]) groups.add(pid);
  await endLeader(family);
  expect([family.child, stubborn.child].map(isRunning)).toEqual([true, true]);
  await endOrphansIn(home.path);
  await until("both are gone", () => ![family.child, stubborn.child].some(isRunning));
  expect(readContent(home.path).groups).toEqual([]);
});

test("ProcessGroups leaves alone what is not its own: another start time, another boot, a removed group", async () => {
  await using home = await makeFolder();
  const { pid, child } = await startFamily();
  const groups = new ProcessGroups(home.path, log);
  groups.add(pid);
  const content = readContent(home.path);
  const startTicks = (content.groups[0]?.startTicks ?? 0) - 1;
  for (const foreign of [
    { ...content, groups: [{ pid, startTicks }] },
    { ...content, boot: "another" },
  ]) {
    writeFileSync(join(home.path, "server-processes.json"), JSON.stringify(foreign));
    await endOrphansIn(home.path);
  }
  groups.remove(pid);
  await endOrphansIn(home.path);
  await sleep(50);
  expect([pid, child].map(isRunning)).toEqual([true, true]);
});

test("ProcessGroups does without a file, and with one that is broken", async () => {
  await using home = await makeFolder();
  await endOrphansIn(home.path);
  expect(existsSync(join(home.path, "server-processes.json"))).toBe(false);
  writeFileSync(join(home.path, "server-processes.json"), "{");
  await endOrphansIn(home.path);
});
