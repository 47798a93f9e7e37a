import { expect, test } from "vitest";
import { share } from "../support/decide.ts";
import { execute } from "../support/execute.ts";
import { connectClient } from "../support/mcp-client.ts";
import { callJson, listNames, startNamesGateway } from "../support/names-scene.ts";
import { runPml } from "../support/pml.ts";
import { startRemoteGateway } from "../support/remote-gateway.ts";

const NAMESPACES = ["fs", "api", "db", "transform", "git", "shell", "ai", "util"];

test("[13.3-AC3] [NFR006] in strict mode a namespace that is not standard is an error wherever a name is given, and nothing runs", async () => {
  await using home = await startNamesGateway({ naming: { strict: true } });
  await using connected = await connectClient(home.path);
  const { client } = connected;
  const unknown = await execute(client, {
    code: `await mcp.counting.add({ key: "strict" }); return 'xyz'`,
    name: "xyz:read_file",
  });
  expect(unknown).toMatchObject({ status: "error", error: { code: "capability_name_invalid" } });
  expect(unknown.error?.message).toBe(
    `Unknown namespace "xyz" in "xyz:read_file". Standard namespaces: ${NAMESPACES.join(", ")}`,
  );
  const bare = await execute(client, { code: "return 'bare'", name: "my-config-reader" });
  expect(bare.error?.message).toBe("Invalid capability name format. Expected: namespace:action_target");
  expect(home.calls()).toEqual([]);
  for (const namespace of NAMESPACES) {
    const standard = await execute(client, { code: `return '${namespace}'`, name: `${namespace}:read_file` });
    expect(standard).toMatchObject({ status: "success", capabilityName: `${namespace}:read_file`, warnings: [] });
  }
  for (const [tool, input] of Object.entries({
    "learn:save": { name: "xyz:saved", code: "return 1" },
    "dns:rename": { name: "fs:read_file", newName: "xyz:renamed" },
    "dns:fork": { source: "fs:read_file", name: "xyz:copied" },
    "dns:merge": { sources: ["fs:read_file", "db:read_file"], name: "xyz:merged" },
  })) {
    const refused = await callJson(client, tool, input);
    expect([tool, refused.isError, refused.text]).toEqual([tool, true, expect.stringContaining("Unknown namespace")]);
  }
  expect((await listNames(client)).filter((name) => name.startsWith("cap__xyz"))).toEqual([]);
});

test("[FR040] what is private is its owner's alone, what is for the project, the organisation or all is shared, after a restart too", async () => {
  await using gateway = await startRemoteGateway({});
  const [ada, bob] = await Promise.all(["ada", "bob"].map((sub) => gateway.issuer.sign({ sub })));
  const kinds = ["private", "project", "org", "public"] as const;
  {
    await using owner = await gateway.connect(ada ?? "", "auto");
    for (const visibility of kinds) {
      const code = `return "for ${visibility}"`;
      const asked = visibility === "private" || visibility === "project" ? { visibility } : {};
      const made = await execute(owner, { code, name: `util:for_${visibility}`, ...asked });
      expect(made).toMatchObject({ status: "success", capabilityName: `util:for_${visibility}` });
      if (!("visibility" in asked)) await share(gateway.home.path, made.capabilityFqdn, visibility);
    }
  }
  const look = async (token: string): Promise<[listed: string[], found: boolean[]]> => {
    await using client = await gateway.connect(token, "auto");
    const names = await listNames(client);
    const found = await Promise.all(
      kinds.map(async (kind) => !(await callJson(client, "dns:lookup", { name: `util:for_${kind}` })).isError),
    );
    return [kinds.filter((kind) => names.includes(`cap__util__for_${kind}`)), found];
  };
  const all = [[...kinds], [true, true, true, true]];
  const shared = [kinds.slice(1), [false, true, true, true]];
  expect([await look(ada ?? ""), await look(bob ?? "")]).toEqual([all, shared]);
  await using other = await gateway.connect(bob ?? "", "auto");
  const hidden = await callJson(other, "dns:lookup", { name: "util:for_private" });
  const missing = await callJson(other, "dns:lookup", { name: "util:for_prixxxx" });
  // the two answers differ only in the requested name
  expect(hidden.text.replaceAll("util:for_private", "?")).toBe(missing.text.replaceAll("util:for_prixxxx", "?"));

  await runPml(["down"], { home: gateway.home.path });
  await runPml(["up"], { home: gateway.home.path, env: { PML_PORT: new URL(gateway.url).port } });
  expect([await look(ada ?? ""), await look(bob ?? "")]).toEqual([all, shared]);
});
