import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runPml } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

test("servers keep the names that people gave them, in lists, programs, rules and the names of capabilities", async () => {
  await using work = await makeFolder();
  const server = (name: string): ReturnType<typeof servers.counting> => servers.counting(join(work.path, name));
  await using home = await startGateway(
    { my_fs: server("a"), GitHub: server("b"), "Framelink Figma MCP": server("c") },
    { config: { permissions: { allow: ["my_fs:*", "github:read"], deny: ["framelink-figma-mcp:*"] } } },
  );
  await home.ready("my_fs", "GitHub", "Framelink Figma MCP");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["my_fs__read", "GitHub__read", "Framelink_Figma_MCP__read"]));
  const direct = await client.callTool({ name: "GitHub__read", arguments: { key: "direct" } });
  expect(direct.isError).not.toBe(true);

  const code = `const a = await mcp.my_fs.read({ key: "x" }); const b = await mcp.GitHub.read({ key: "y" }); return a.count + b.count`;
  expect(await execute(client, { code, name: "both:read_two" })).toMatchObject({
    status: "success",
    tasks: [{ tool: "my_fs:read" }, { tool: "GitHub:read" }],
  });
  const denied = await execute(client, { code: `return await mcp.Framelink_Figma_MCP.read({ key: "z" })` });
  expect(denied).toMatchObject({ status: "error", error: { code: "permission_denied" } });
});

test("a name that cannot be one, or differs from another in case and signs alone, is refused with the reason", async () => {
  await using home = await makeFolder();
  const refused = async (mcpServers: Record<string, { command: string }>): Promise<string> => {
    writeConfig(home.path, { mcpServers });
    const { code, stderr } = await runPml(["up"], { home: home.path });
    expect(code).not.toBe(0);
    return stderr;
  };
  const entry = { command: "node" };
  expect(await refused({ "a:b": entry })).toContain("server names have letters, digits and inner spaces");
  expect(await refused({ PML: entry })).toContain("is a name that PML keeps for itself");
  expect(await refused({ GitHub: entry, github: entry })).toContain('differs from "GitHub" in case and signs alone');
});

test("pml import keeps the names of a client's file, and knows a server again that it brought under a plainer one", async () => {
  await using home = await makeFolder();
  mkdirSync(join(home.path, ".cursor"));
  writeFileSync(
    join(home.path, ".cursor", "mcp.json"),
    JSON.stringify({ mcpServers: { GitHub: { command: "gh" }, my_fs: { command: "fs" } } }),
  );
  writeConfig(home.path, { mcpServers: { github: { command: "gh" } } });
  const { code, stdout } = await runPml(["import", "cursor"], { home: home.path });
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^github\tskipped\tGitHub.*PML has it already, as github/m),
  ]);
  await runPml(["down"], { home: home.path });
  expect(stdout).toMatch(/^my_fs\tadded\tmy_fs in/m);
});
