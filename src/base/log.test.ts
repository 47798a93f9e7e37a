import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { createLogger, redact } from "./log.ts";

test("redact hides known secrets, secret fields, passwords in URLs and bearer tokens", () => {
  const line = redact(
    `{"a":"s3cr3t-value","password":"hunter2","apiKey":"k","url":"postgres://u:pw@h/db","h":"Bearer abc.def"}`,
    ["s3cr3t-value"],
  );
  expect(line).toBe(
    `{"a":"[redacted]","password":"[redacted]","apiKey":"[redacted]","url":"postgres://u:[redacted]@h/db","h":"Bearer [redacted]"}`,
  );
});

test("createLogger writes one JSON object a line to its file, at its level, without secrets", async () => {
  await using folder = await makeFolder();
  const file = join(folder.path, "logs", "pml.log");
  const log = createLogger({ level: "info", file, secrets: ["topsecret"] });
  log.debug("not written");
  log.info({ what: "it is topsecret" }, "hello");
  const [line, ...rest] = (await readFile(file, "utf8")).trim().split("\n");
  expect(rest).toEqual([]);
  expect(JSON.parse(line ?? "")).toMatchObject({ level: "info", what: "it is [redacted]", msg: "hello" });
});
