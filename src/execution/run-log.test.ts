import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeFolder, type TestFolder } from "../../test/support/folder.ts";
import { RunLog } from "./run-log.ts";

let folder: TestFolder;
let path: string;
const content = (): string => readFileSync(path, "utf8");
const passTime = (): unknown => vi.advanceTimersByTime(60_000);

beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder.path, "log");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await folder[Symbol.asyncDispose]();
});

test("appended lines are in the file, which is truncated some time after all are settled", async () => {
  await using log = new RunLog(path);
  await Promise.all(["one", "two", "three"].map((line) => log.append(line)));
  expect(content()).toBe("one\ntwo\nthree\n");
  log.settle();
  log.settle();
  passTime();
  expect(content()).toBe("one\ntwo\nthree\n");
  log.settle();
  expect(content()).toBe("one\ntwo\nthree\n");
  passTime();
  expect(content()).toBe("");
  await log.append("größer");
  expect(content()).toBe("größer\n");
});

test("leftover lines are read, except for an incomplete last one", async () => {
  writeFileSync(path, "one\ntwo\nthr");
  await using log = new RunLog(path);
  expect(log.leftover).toEqual(["one", "two"]);
  await log.append("four");
  expect(content()).toBe("one\ntwo\nfour\n");
  for (const _line of ["one", "two", "four"]) log.settle();
  passTime();
  expect(content()).toBe("");
});

test("a large file is truncated at once, but not during a write", async () => {
  await using log = new RunLog(path);
  await log.append("x".repeat(2 ** 20));
  const next = log.append("two");
  log.settle();
  await next;
  expect(content()).toMatch(/x\ntwo\n$/);
  log.settle();
  expect(content()).toBe("");
});

test("a clean close leaves an empty file", async () => {
  {
    await using log = new RunLog(path);
    await log.append("one");
    log.settle();
  }
  expect(content()).toBe("");
});

test("a closed log accepts no lines, and finishes pending ones", async () => {
  const log = new RunLog(path);
  const kept = log.append("one");
  await log[Symbol.asyncDispose]();
  await kept;
  log.settle();
  passTime();
  expect(content()).toBe("one\n");
  await expect(log.append("two")).rejects.toThrow("the run log is closed");
  expect(content()).toBe("one\n");
});
