import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { PmlError } from "../base/errors.ts";
import { loadConfig } from "./load-config.ts";

async function loadText(
  text: string,
  env: Record<string, string> = {},
  flags = {},
): Promise<ReturnType<typeof loadConfig>> {
  await using home = await makeFolder();
  const file = join(home.path, "pml.json");
  await writeFile(file, text);
  return loadConfig({ config: file, ...flags }, { PML_HOME: home.path, ...env });
}

async function failure(text: string, env: Record<string, string> = {}): Promise<PmlError> {
  const error: unknown = await loadText(text, env).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(PmlError);
  return error as PmlError;
}

test("loadConfig without a file gives the defaults", async () => {
  await using home = await makeFolder();
  const config = loadConfig({}, { PML_HOME: home.path });
  expect(config).toMatchObject({ http: { host: "127.0.0.1", port: 7650 }, portChosen: false, file: undefined });
});

test("loadConfig merges file, environment and flags in rising order", async () => {
  const file = `{ "http": { "port": 1 }, "log": { "level": "warn" } }`;
  expect((await loadText(file)).http.port).toBe(1);
  expect((await loadText(file, { PML_PORT: "2" })).http.port).toBe(2);
  const config = await loadText(file, { PML_PORT: "2" }, { port: 3 });
  expect(config).toMatchObject({ http: { port: 3 }, log: { level: "warn" }, portChosen: true });
});

test("loadConfig reads comments and trailing commas", async () => {
  const config = await loadText(`// mine\n{ "http": { "port": 5, }, /* more */ }`);
  expect(config.http.port).toBe(5);
});

test("loadConfig freezes its result deeply", async () => {
  const config = await loadText(`{}`);
  expect(Object.isFrozen(config) && Object.isFrozen(config.http) && Object.isFrozen(config.http.allowedHosts)).toBe(
    true,
  );
});

test("loadConfig suggests the closest key for an unknown one, with its position", async () => {
  const error = await failure(`{\n  "http": {\n    "prot": 1\n  }\n}`);
  expect(error.message).toMatch(/pml\.json:3:5: "http\.prot" is not a known key$/);
  expect(error.hint).toBe('Did you mean "port"?');
});

test("loadConfig suggests the closest key inside a server entry", async () => {
  const error = await failure(`{ "mcpServers": { "fs": { "comand": "x" } } }`);
  expect(error.message).toContain('"mcpServers.fs.comand" is not a known key');
  expect(error.hint).toBe('Did you mean "command"?');
});

test("loadConfig reports a syntax error with line and column", async () => {
  const error = await failure(`{\n  "http": { "port": }\n}`);
  expect(error.code).toBe("config_syntax");
  expect(error.message).toMatch(/pml\.json:2:21 is not valid JSON/);
  expect(error.hint).toBe("Look at this line, or the one before it");
});

test("loadConfig reports a value of the wrong type with its position", async () => {
  const error = await failure(`{\n  "http": { "port": "high" }\n}`);
  expect(error.message).toMatch(/pml\.json:2:13: "http\.port" invalid input: expected number/);
});

test("loadConfig names the variable whose value is invalid", async () => {
  const error = await failure(`{}`, { PML_PORT: "abc" });
  expect(error.message).toMatch(/^PML_PORT: invalid input: expected number/);
});

test("loadConfig refuses a server with neither command nor url, and one with both", async () => {
  const neither = await failure(`{ "mcpServers": { "a": {} } }`);
  expect(neither.message).toContain('needs either "command" (stdio) or "url" (remote)');
  const both = await failure(`{ "mcpServers": { "a": { "command": "x", "url": "y" } } }`);
  expect(both.message).toContain("and not both");
});

test("loadConfig fails when the requested file does not exist", () => {
  expect(() => loadConfig({ config: "/nowhere/pml.json" }, { PML_HOME: "/nowhere" })).toThrow(
    "Cannot read the configuration file /nowhere/pml.json: it does not exist",
  );
});
