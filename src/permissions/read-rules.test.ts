import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { PmlError } from "../base/errors.ts";
import { brokenRules, readRules } from "./read-rules.ts";
import { decide } from "./rule-model.ts";

const permissions = { allow: ["a:*"], ask: [], deny: [], effects: {} };
const tool = { id: "a:x", schemaHash: "s", annotations: { readOnlyHint: true, believed: true } };

test("the files in PML_HOME and beside the configuration both count, with the configuration", async () => {
  await using folder = await makeFolder();
  const home = join(folder.path, "home");
  mkdirSync(home);
  const config = { home, file: join(folder.path, "pml.json"), permissions };
  const decision = (): string => decide(readRules(config), tool, { remembered: [] }).decision;
  expect(decision()).toBe("allow");
  writeFileSync(join(home, "mcp-permissions.yaml"), "a: { approvalMode: ask }");
  expect(decision()).toBe("ask");
  writeFileSync(join(folder.path, "mcp-permissions.yaml"), "\uFEFFdeny: ['a:x']");
  expect(decision()).toBe("deny");
});

test("an existing file that cannot be read breaks the rules", async () => {
  await using folder = await makeFolder();
  const config = { home: folder.path, file: undefined, permissions };
  const path = join(folder.path, "mcp-permissions.yaml");
  symlinkSync(join(folder.path, "nowhere"), path);
  expect(readRules(config)).toMatchObject({
    kind: "broken",
    error: { code: "permissions_broken", message: expect.stringContaining(`${path} cannot be read: ENOENT`) },
  });
});

test("any error that breaks the rules is reported as permissions_broken", () => {
  const error = new PmlError("config_syntax", "/x/pml.json:1:2 is not valid JSON", { hint: "look" });
  expect(brokenRules(error)).toMatchObject({
    source: { at: "/x/pml.json:1:2" },
    error: {
      code: "permissions_broken",
      message: "/x/pml.json:1:2 is not valid JSON. Nothing is permitted until this is fixed",
      hint: "look",
    },
  });
});
