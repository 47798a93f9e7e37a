import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/folder.ts";
import { FinishLog } from "./finish-log.ts";

test("lines are in the file when they are kept, and it is empty when all are settled", async () => {
  await using folder = await makeFolder();
  const path = join(folder.path, "log");
  using log = new FinishLog(path);
  await Promise.all(["one", "two", "three"].map((line) => log.keep(line)));
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  log.settle();
  log.settle();
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  log.settle();
  expect(readFileSync(path, "utf8")).toBe("");
  await log.keep("größer");
  expect(readFileSync(path, "utf8")).toBe("größer\n");
});

test("what the last process left is there, but for a line that was never whole", async () => {
  await using folder = await makeFolder();
  const path = join(folder.path, "log");
  writeFileSync(path, "one\ntwo\nthr");
  using log = new FinishLog(path);
  expect(log.left).toEqual(["one", "two"]);
  await log.keep("four");
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nfour\n");
  for (const _line of ["one", "two", "four"]) log.settle();
  expect(readFileSync(path, "utf8")).toBe("");
});

test("a line that comes while the last ones are settled is not cut off", async () => {
  await using folder = await makeFolder();
  const path = join(folder.path, "log");
  using log = new FinishLog(path);
  await log.keep("one");
  const next = log.keep("two");
  log.settle();
  await next;
  expect(readFileSync(path, "utf8")).toContain("two\n");
  log.settle();
  expect(readFileSync(path, "utf8")).toBe("");
});
