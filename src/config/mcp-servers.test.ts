import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { resolveServers } from "./mcp-servers.ts";

const env = { TOKEN: "abc", EMPTY: "" };

test("resolveServers expands all three spellings wherever they are allowed", () => {
  const [server] = resolveServers(
    {
      a: {
        command: "${env:TOKEN}",
        args: ["x-${TOKEN}", "$TOKEN", "${NONE:-fallback}", "${EMPTY:-empty}"],
        env: { KEY: "${TOKEN}" },
        headers: { Authorization: "Bearer ${TOKEN}" },
      },
    },
    env,
  );
  expect(server).toEqual({
    name: "a",
    state: "usable",
    entry: {
      command: "abc",
      args: ["x-abc", "$TOKEN", "fallback", "empty"],
      env: { KEY: "abc" },
      headers: { Authorization: "Bearer abc" },
    },
  });
});

test("resolveServers disables only the server whose variable is not set, and names the variable", () => {
  const servers = resolveServers(
    { a: { command: "x", env: { K: "${MISSING}" } }, b: { url: "http://127.0.0.1/${TOKEN}" } },
    env,
  );
  expect(servers).toEqual([
    { name: "a", state: "unusable", reason: "MISSING is not set" },
    { name: "b", state: "usable", entry: { url: "http://127.0.0.1/abc" } },
  ]);
});

test("resolveServers leaves disabled entries unchanged, in both spellings", () => {
  const states = resolveServers(
    { a: { command: "${MISSING}", disabled: true }, b: { command: "x", enabled: false } },
    env,
  );
  expect(states.map(({ state }) => state)).toEqual(["disabled", "disabled"]);
});

test("resolveServers adds the variables of an envFile below those of the entry, and reports an unreadable one", async () => {
  await using folder = await makeFolder();
  await writeFile(join(folder.path, ".env"), "A=from file\nB='quoted'\n");
  const [server, broken] = resolveServers(
    {
      a: { command: "x", cwd: "${FOLDER}", envFile: ".env", env: { A: "from entry" } },
      b: { command: "x", envFile: "${FOLDER}/none" },
    },
    { FOLDER: folder.path },
  );
  expect(server).toMatchObject({ entry: { cwd: folder.path, env: { A: "from entry", B: "quoted" } } });
  expect(broken).toMatchObject({ state: "unusable", reason: expect.stringContaining("its envFile cannot be read") });
});
