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

test("lines are in the file when they are kept, and it is empty some time after all are settled", async () => {
  await using log = new RunLog(path);
  await Promise.all(["one", "two", "three"].map((line) => log.keep(line)));
  expect(content()).toBe("one\ntwo\nthree\n");
  log.settle();
  log.settle();
  passTime();
  expect(content()).toBe("one\ntwo\nthree\n");
  log.settle();
  expect(content()).toBe("one\ntwo\nthree\n");
  passTime();
  expect(content()).toBe("");
  await log.keep("größer");
  expect(content()).toBe("größer\n");
});

test("what the last process left is there, but for a line that was never whole", async () => {
  writeFileSync(path, "one\ntwo\nthr");
  await using log = new RunLog(path);
  expect(log.left).toEqual(["one", "two"]);
  await log.keep("four");
  expect(content()).toBe("one\ntwo\nfour\n");
  for (const _line of ["one", "two", "four"]) log.settle();
  passTime();
  expect(content()).toBe("");
});

test("a large file is emptied at once, but not while a line is on its way", async () => {
  await using log = new RunLog(path);
  await log.keep("x".repeat(2 ** 20));
  const next = log.keep("two");
  log.settle();
  await next;
  expect(content()).toMatch(/x\ntwo\n$/);
  log.settle();
  expect(content()).toBe("");
});

test("what ends in order leaves an empty file", async () => {
  {
    await using log = new RunLog(path);
    await log.keep("one");
    log.settle();
  }
  expect(content()).toBe("");
});

test("a closed file takes no lines, but those that were on their way", async () => {
  const log = new RunLog(path);
  const kept = log.keep("one");
  await log[Symbol.asyncDispose]();
  await kept;
  log.settle();
  passTime();
  expect(content()).toBe("one\n");
  await expect(log.keep("two")).rejects.toThrow("the file is closed");
  expect(content()).toBe("one\n");
});
