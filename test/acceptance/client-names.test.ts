import { expect, test } from "vitest";
import { namingClients } from "../support/client-names.ts";
import { call, listsEverything, startGateway } from "../support/gateway-home.ts";
import { HOSTILE_NAMES } from "../support/hostile-names.ts";
import { connectClient } from "../support/mcp-client.ts";
import { makeFolder } from "../support/databases.ts";
import { servers } from "../support/upstream-servers.ts";

test("what six clients make of the names stays legal and distinct, and reaches the tool that was meant [mcp-16]", async () => {
  await using folder = await makeFolder();
  await using home = await startGateway(
    {
      one: servers.chaos("one"),
      "one-more": servers.chaos("one-more"),
      everything: servers.everything,
      filesystem: servers.filesystem(folder.path),
      memory: servers.memory(folder.path),
      fixture: servers.fixture(),
    },
    { config: listsEverything },
  );
  await home.ready("one", "one-more", "everything", "filesystem", "memory", "fixture");
  await using connected = await connectClient(home.path);
  const { tools } = await connected.client.listTools();
  expect(tools.length).toBeGreaterThan(100);
  for (const { client, legal, mangle } of namingClients) {
    const offered = new Set<string>();
    for (const { name } of tools) {
      const mangled = mangle(name, offered);
      expect(`${client}: ${mangled?.offered}`).toMatch(new RegExp(`^${client}: ${legal.source.slice(1)}`));
      expect(offered).not.toContain(mangled?.offered);
      offered.add(mangled?.offered ?? "");
    }
    // Calls by the client's own table, and by the mangled name a model may remember.
    const answering = tools.filter(({ _meta }) => isHostile(String(_meta?.["dev.pml/canonicalName"])));
    for (const { name, _meta } of answering) {
      const expected = String(_meta?.["dev.pml/canonicalName"]).replace(":", "/");
      for (const spoken of [name, mangle(name, new Set())?.spoken ?? "", name.toUpperCase()]) {
        expect(await call(connected.client, spoken)).toEqual({ isError: false, text: expected });
      }
    }
    expect(answering).toHaveLength(2 * HOSTILE_NAMES.length);
  }
}, 120_000);

/** Tools that answer with their own name. */
function isHostile(canonical: string): boolean {
  const [server = "", tool = ""] = canonical.split(/:(.*)/s);
  return /^one(-more)?$/.test(server) && HOSTILE_NAMES.includes(tool);
}

test("every spelling of a name reaches the same tool; one that fits several names them", async () => {
  await using home = await startGateway({ one: servers.chaos("one") });
  await home.ready("one");
  await using connected = await connectClient(home.path);
  const { client } = connected;
  for (const spelling of ["one:echo", "one__echo", "ONE__ECHO", "one.echo", "one/echo", "one-echo"]) {
    expect(await call(client, spelling, { text: "x" })).toEqual({ isError: false, text: "one: x" });
  }
  await expect(call(client, "one:a b")).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringMatching(/Ambiguous tool "one:a b": it could be one:a\.b or one:a-b or one:a_b or one:A_B/),
  });
});

test("with names: canonical the tools are listed as server:tool [mcp-17]", async () => {
  await using home = await startGateway(
    { one: servers.chaos("one") },
    { config: { gateway: { toolNames: "canonical" } } },
  );
  await home.ready("one");
  await using connected = await connectClient(home.path);
  const { tools } = await connected.client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["one:echo", "one:a.b", "one:slash/in/name", "one:größe-π"]));
  expect(await call(connected.client, "one:slash/in/name")).toEqual({ isError: false, text: "one/slash/in/name" });
});
