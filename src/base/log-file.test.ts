import { appendFileSync, closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { LogFile, olderLog } from "./log-file.ts";

test("LogFile keeps one older file and stays below twice its limit", async () => {
  await using folder = await makeFolder();
  const file = new LogFile(join(folder.path, "logs", "x.log"), 100);
  for (let line = 1; line <= 100; line += 1) file.write(`line ${line}\n`);
  expect(readFileSync(file.path, "utf8")).toMatch(/line 100\n$/);
  expect(statSync(file.path).size).toBeLessThan(120);
  const older = readFileSync(olderLog(file.path), "utf8").trimEnd().split("\n");
  const newer = readFileSync(file.path, "utf8").split("\n");
  expect(Number(newer[0]?.slice(5))).toBe(Number(older.at(-1)?.slice(5)) + 1);
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
});

test("LogFile counts what was there before, and others who append go on in the current file", async () => {
  await using folder = await makeFolder();
  const path = join(folder.path, "x.log");
  appendFileSync(path, "x".repeat(200));
  const other = openSync(path, "a");
  new LogFile(path, 100).write("mine\n");
  writeSync(other, "other\n");
  closeSync(other);
  expect(readFileSync(path, "utf8")).toBe("mine\nother\n");
});

test("LogFile drops what cannot be written", async () => {
  await using folder = await makeFolder();
  const path = join(folder.path, "file");
  appendFileSync(path, "");
  expect(() => new LogFile(join(path, "below"), 100).write("x\n")).not.toThrow();
});
