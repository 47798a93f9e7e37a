import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { makeFolder } from "../support/databases.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

test("servers, tools and call show and use what is behind the gateway", async () => {
  await using home = await makeFolder();
  const options = { home: home.path };
  writeConfig(home.path, { mcpServers: { everything: servers.everything, gone: { command: "/nowhere/server" } } });
  await until("everything is connected", async () =>
    (await runPml(["servers"], options)).stdout.includes("everything\tready\t"),
  );
  const rows = await runJson<{ name: string; state: string; tools?: number; lastError?: string }[]>(
    ["servers"],
    options,
  );
  expect(rows.find(({ name }) => name === "everything")?.tools).toBeGreaterThan(10);
  expect(rows.find(({ name }) => name === "gone")).toMatchObject({
    state: "backoff",
    lastError: expect.stringContaining("ENOENT"),
  });

  const { stdout: list } = await runPml(["tools", "everything"], options);
  expect(list).toMatch(/^everything:echo\t/m);
  const agent = await runPml(["tools", "--as-agent"], options);
  expect(agent.stdout).toMatch(/^everything__get_sum$/m);
  expect(agent.stderr).toMatch(/\d+ tools, about \d+ tokens/);

  const sum = await runPml(["call", "everything:get-sum", "--arg", "a=2", "b=3"], options);
  expect([sum.code, sum.stdout]).toEqual([EXIT.ok, "The sum of 2 and 3 is 5.\n"]);
  const zip = await runPml(["call", "everything:echo", "--arg", "message=01234"], options);
  expect(zip.stdout).toBe("Echo: 01234\n");
  const json = await runJson<{ content: unknown[] }>(
    ["call", "everything:get-sum", "--args-json", `{"a":1,"b":1}`],
    options,
  );
  expect(json.content).toEqual([{ type: "text", text: "The sum of 1 and 1 is 2." }]);
  const wrong = await runPml(["call", "everything:get-sum", "--arg", "a=x"], options);
  expect(wrong.code).toBe(EXIT.toolError);
  const unknown = await runPml(["call", "everything:get-som"], options);
  expect(unknown.code).toBe(EXIT.notFound);
  expect(unknown.stderr).toContain("Did you mean: pml call everything:get-sum");
  await runPml(["down"], options);
});

test("add and remove edit the configuration in force and keep everything else in it", async () => {
  await using home = await makeFolder();
  const options = { home: home.path };
  const file = join(home.path, "pml.json");
  writeFileSync(file, `{\n  // my settings\n  "log": { "level": "warn" }\n}\n`);
  const added = await runPml(["add", "files", "--env", "TOKEN=${T}", "--", "npx", "-y", "server", "--flag"], options);
  expect(added).toMatchObject({ code: 0, stdout: `Added files in ${file}\n` });
  expect(added.stderr).toContain("Undo: pml remove files");
  expect(added.stderr).toContain("The servers that ship with PML are used only while none is configured.");
  await runPml(["add", "docs", "https://127.0.0.1:1/mcp", "--header", "Authorization: Bearer ${T}"], options);
  const text = readFileSync(file, "utf8");
  expect(text).toContain("// my settings");
  expect(JSON.parse(text.replace(/\/\/.*/, ""))).toEqual({
    log: { level: "warn" },
    mcpServers: {
      files: { command: "npx", args: ["-y", "server", "--flag"], env: { TOKEN: "${T}" } },
      docs: { url: "https://127.0.0.1:1/mcp", headers: { Authorization: "Bearer ${T}" } },
    },
  });
  expect((await runPml(["remove", "files"], options)).stdout).toBe(`Removed files from ${file}\n`);
  expect(await runPml(["remove", "files"], options)).toMatchObject({ code: EXIT.notFound });
  for (const name of ["Files!", "cap", "_a"]) {
    const refused = await runPml(["add", name, "--", "x"], options);
    expect([refused.code, refused.stdout]).toEqual([EXIT.failed, ""]);
    expect(refused.stderr).toContain(`The server "${name}" cannot be added`);
  }
});
