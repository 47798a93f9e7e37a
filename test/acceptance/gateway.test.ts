import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../support/databases.ts";
import { shareGateway } from "../support/gateway-home.ts";
import { clientKinds, connectClient } from "../support/mcp-client.ts";
import { connectOldClient } from "../support/old-client.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { servers, unlessMarked, writeConfig } from "../support/upstream-servers.ts";
import type { ServerRow } from "../../src/contract/servers.ts";

const form = {
  action: "accept",
  content: {
    name: "Ada",
    check: true,
    color: "red",
    email: "a@b.de",
    homepage: "https://a.de",
    birthdate: "2000-01-01",
    integer: 3,
    number: 2,
  },
} as const;

async function ready(home: string, names: readonly string[]): Promise<void> {
  await until("the servers are connected", async () => {
    const rows = await runJson<ServerRow[]>(["servers"], { home });
    return names.every((name) => rows.find((row) => row.name === name)?.state === "ready");
  });
}

describe("with one server", () => {
  const home = shareGateway({ everything: servers.everything });

  describe.each(clientKinds)("a client over $transport, $era", (kind) => {
    test("lists, calls, and gets back everything a server sends", async () => {
      await using connected = await connectClient(home().path, { ...kind, answer: form });
      const { client } = connected;

      const { tools } = await client.listTools();
      const sum = tools.find(({ name }) => name === "everything__get_sum");
      expect(sum).toMatchObject({
        _meta: { "dev.pml/canonicalName": "everything:get-sum" },
        inputSchema: { type: "object" },
      });
      for (const { name } of tools) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,49}$/);
      expect(tools.map(({ name }) => name)).not.toContain("everything__simulate_research_query");

      for (const name of ["everything__get_sum", "everything:get-sum", "everything__get-sum"]) {
        const result = await client.callTool({ name, arguments: { a: 2, b: 3 } });
        expect(result.content).toEqual([{ type: "text", text: "The sum of 2 and 3 is 5." }]);
      }
      const image = await client.callTool({ name: "everything__get_tiny_image", arguments: {} });
      expect(image.content).toContainEqual(
        expect.objectContaining({ type: "image", mimeType: "image/png", data: expect.stringMatching(/^iVBOR/) }),
      );
      const structured = await client.callTool({
        name: "everything__get_structured_content",
        arguments: { location: "New York" },
      });
      expect(structured.structuredContent).toMatchObject({ temperature: expect.any(Number) });

      const progress: number[] = [];
      await client.callTool(
        { name: "everything__trigger_long_running_operation", arguments: { duration: 0.4, steps: 4 } },
        { onprogress: (step) => progress.push(step.progress) },
      );
      expect(progress.slice(0, 3)).toEqual([1, 2, 3]);

      const asked = await client.callTool({ name: "everything__trigger_elicitation_request", arguments: {} });
      expect(connected.questions).toEqual([expect.stringMatching(/^\[everything\] /)]);
      expect(JSON.stringify(asked.content)).toContain("- Name: Ada");
    });

    test("resources and prompts keep their server, and completion reaches it [mcp-20]", async () => {
      await using connected = await connectClient(home().path, kind);
      const { client } = connected;
      const { resources } = await client.listResources();
      const uri = resources[0]?.uri ?? "";
      expect(uri).toMatch(/^pml\+everything:/);
      const { contents } = await client.readResource({ uri });
      expect(contents[0]?.uri).toBe(uri);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates[0]?.uriTemplate).toMatch(/^pml\+everything:/);
      const prompt = await client.getPrompt({ name: "everything__args_prompt", arguments: { city: "Paris" } });
      expect(JSON.stringify(prompt.messages)).toContain("Paris");
      const completed = await client.complete({
        ref: { type: "ref/prompt", name: "everything__completable_prompt" },
        argument: { name: "department", value: "E" },
      });
      expect(completed.completion.values).toEqual(["Engineering"]);
    });
  });
});

test("after a restart the tools are listed before any server is connected, and each call is on record", async () => {
  await using home = await makeFolder();
  const marker = join(home.path, "broken");
  writeConfig(home.path, { mcpServers: { everything: unlessMarked(servers.everything, marker) } });
  await runJson(["up"], { home: home.path });
  await ready(home.path, ["everything"]);
  await using before = await connectClient(home.path);
  const first = await before.client.listTools();
  await before.client.callTool({ name: "everything__echo", arguments: { message: "hello" } });
  await before.client.callTool({ name: "everything__nothing", arguments: {} }).catch(() => undefined);
  await runPml(["down"], { home: home.path });

  // The list stays the same although the server can no longer start.
  writeFileSync(marker, "");
  await runJson(["up"], { home: home.path });
  await using after = await connectClient(home.path);
  expect(await after.client.listTools()).toEqual(first);

  const exported = join(home.path, "memory.pml");
  await runJson(["export", "-o", exported], { home: home.path });
  const rows = readFileSync(exported, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`["tool_usage"`));
  expect(
    rows.map((line) => (JSON.parse(line) as [string, { outcome: string; tool_name: string; client: string }])[1]),
  ).toMatchObject([
    { tool_name: "echo", outcome: "success", client: "test-client" },
    { tool_name: "everything__nothing", outcome: "refused", client: "test-client" },
  ]);
  await runPml(["down"], { home: home.path });
});

test("a first start without any configuration has two servers to call", async () => {
  await using home = await makeFolder();
  const env = { PML_CONFIG: "" };
  await runJson(["up"], { home: home.path, env });
  await ready(home.path, ["filesystem", "memory"]);
  await using connected = await connectClient(home.path, { env });
  const { tools } = await connected.client.listTools();
  expect(tools.length).toBeGreaterThanOrEqual(23);
  const path = join(home.path, "scratch", "note.txt");
  await connected.client.callTool({ name: "filesystem__write_file", arguments: { path, content: "kept" } });
  expect(readFileSync(path, "utf8")).toBe("kept");
  expect(readFileSync(join(home.path, "daemon.log"), "utf8")).not.toContain('"level":"warn"');
  await runPml(["down"], { home: home.path });
});

test.each(["stdio", "http"] as const)("a client of the SDK before last lists and calls over %s", async (transport) => {
  await using home = await makeFolder();
  writeConfig(home.path, { mcpServers: { everything: servers.everything } });
  await runJson(["up"], { home: home.path });
  await ready(home.path, ["everything"]);
  await using client = await connectOldClient(home.path, transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("everything__echo");
  const result = await client.callTool({ name: "everything:echo", arguments: { message: "hi" } });
  expect(result.content).toEqual([{ type: "text", text: "Echo: hi" }]);
  await runPml(["down"], { home: home.path });
});
