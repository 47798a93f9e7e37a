import { expect, test } from "vitest";
import { call, startGateway } from "../support/gateway-home.ts";
import { HOSTILE_NAMES } from "../support/hostile-names.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";

interface ListedTool {
  readonly wire: string;
  readonly canonical: string;
}

async function listTools(home: string): Promise<ListedTool[]> {
  await using connected = await connectClient(home);
  const { tools } = await connected.client.listTools();
  return tools
    .map(({ name, _meta }) => ({ wire: name, canonical: String(_meta?.["dev.pml/canonicalName"]) }))
    .filter(({ canonical }) => canonical.includes(":") && !/^(dns|meta|learn):/.test(canonical));
}

test("names of two servers with equal, illegal, long and colliding tools are legal, distinct, stable, and reach their tool [mcp-13] [mcp-15]", async () => {
  const two = { one: servers.chaos("one"), two: servers.chaos("two") };
  const gateway = { exposure: "full" };
  await using home = await startGateway(two, { config: { gateway } });
  await home.ready("one", "two");
  const tools = await listTools(home.path);
  for (const { wire } of tools) expect(wire).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,49}$/);
  expect(new Set(tools.map(({ wire }) => wire.toLowerCase())).size).toBe(tools.length);
  expect(new Set(tools.map(({ canonical }) => canonical)).size).toBe(tools.length);

  await using connected = await connectClient(home.path);
  for (const server of ["one", "two"]) {
    for (const tool of HOSTILE_NAMES) {
      const canonical = `${server}:${tool}`;
      const wire = tools.find((each) => each.canonical === canonical)?.wire ?? "";
      for (const name of [wire, canonical]) {
        expect((await call(connected.client, name)).text).toBe(`${server}/${tool}`);
      }
    }
    expect((await call(connected.client, `${server}__echo`, { text: "x" })).text).toBe(`${server}: x`);
  }

  await runPml(["down"], { home: home.path });
  writeConfig(home.path, {
    gateway,
    mcpServers: { ...two, a: servers.chaos("a"), "one-more": servers.chaos("one-more") },
  });
  await runJson(["up"], { home: home.path });
  await home.ready("a", "one-more");
  const grown = await listTools(home.path);
  expect(grown).toHaveLength(tools.length * 2);
  expect(grown.filter(({ canonical }) => /^(one|two):/.test(canonical))).toEqual(tools);

  writeConfig(home.path, { mcpServers: { two: two.two } });
  await until("the others are gone", async () => (await home.servers()).length === 1);
  expect(await listTools(home.path)).toEqual(tools.filter(({ canonical }) => canonical.startsWith("two:")));
});
