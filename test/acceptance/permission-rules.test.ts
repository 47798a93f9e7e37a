import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/base/errors.ts";
import { startGateway } from "../support/gateway-home.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

interface Verdict {
  readonly decision: string;
  readonly effect: string;
  readonly routing: string;
  readonly reason: string;
  readonly source: { readonly at: string };
}

async function verdictOn(home: string, tool: string): Promise<Verdict & { exit: number | null }> {
  const { code, stdout } = await runPml(["rules", "test", tool, "--json"], { home });
  return { ...(JSON.parse(stdout) as { data: Verdict }).data, exit: code };
}

test("the permissions file and the configuration are one set of rules, read again when they change [K12] [13.15-AC4]", async () => {
  const mcpServers = { filesystem: servers.filesystem("/tmp") };
  await using home = await startGateway(mcpServers);
  await home.ready("filesystem");
  const { path } = home;
  const file = join(path, "mcp-permissions.yaml");
  const decisions = async (): Promise<string[]> => {
    const tools = ["read_text_file", "create_directory", "write_file"];
    const verdicts = await Promise.all(tools.map((tool) => verdictOn(path, `filesystem:${tool}`)));
    return verdicts.map(({ decision, effect }) => `${effect} ${decision}`);
  };
  expect(await decisions()).toEqual(["read allow", "idempotent ask", "destructive ask"]);
  expect(await verdictOn(path, "filesystem:write_file")).toMatchObject({ routing: "local", exit: EXIT.needsPerson });

  writeFileSync(file, "filesystem:\n  routing: cloud\n  tools:\n    write_file: { approvalMode: auto }\n");
  await until("the file counts", async () => (await verdictOn(path, "filesystem:write_file")).decision === "allow");
  expect(await verdictOn(path, "filesystem:write_file")).toMatchObject({
    exit: EXIT.ok,
    routing: "cloud",
    source: { kind: "file", at: `${file}:4` },
  });

  writeConfig(path, { mcpServers, permissions: { deny: ["filesystem:write_*"], effects: { "*": "write" } } });
  await until("the configuration counts too", async () => (await decisions())[2] === "write deny");
  expect(await decisions()).toEqual(["write ask", "write ask", "write deny"]);
  expect(await verdictOn(path, "filesystem:write_file")).toMatchObject({
    exit: EXIT.refused,
    reason: expect.stringContaining(`denied: "filesystem:write_*" in permissions.deny[0]`),
  });
  expect((await runPml(["rules", "test", "filesystem:nothing"], { home: path })).code).toBe(EXIT.notFound);
});

test("a permissions file that cannot be read permits nothing, until it is mended or gone", async () => {
  const mcpServers = { filesystem: servers.filesystem("/tmp") };
  await using home = await startGateway(mcpServers);
  await home.ready("filesystem");
  const { path } = home;
  const file = join(path, "mcp-permissions.yaml");
  const reading = (): Promise<Verdict & { exit: number | null }> => verdictOn(path, "filesystem:read_text_file");
  const permitted = async (): Promise<boolean> => (await reading()).decision === "allow";
  expect(await permitted()).toBe(true);

  writeFileSync(file, "filesystem:\n  aprovalMode: deny\n");
  await until("nothing is permitted", async () => !(await permitted()));
  const problem = `${file}:2 "filesystem.aprovalMode" is not a known key; did you mean "approvalMode"?`;
  expect(await reading()).toMatchObject({ exit: EXIT.refused, reason: expect.stringContaining(problem) });
  const doctor = await runPml(["doctor"], { home: path });
  expect([doctor.code, doctor.stdout]).toEqual([EXIT.checkFailed, expect.stringContaining(problem)]);
  expect((await runJson<{ permissions: string }>(["status"], { home: path })).permissions).toContain(problem);

  rmSync(file);
  await until("the file is gone", permitted);
  writeConfig(path, { mcpServers, permissions: { deny: ["filesystem"], allow: "*" } });
  await until("a configuration that cannot be read permits nothing either", async () => !(await permitted()));
  expect((await reading()).reason).toMatch(/pml\.json:1:\d+: "permissions.allow" .*Nothing is permitted/);
  writeFileSync(file, "{}\n");
  writeConfig(path, { mcpServers });
  await until("both are mended", permitted);
});
