/** Results with keys that the database cannot hold. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runJson } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

const odd = { "zero\u0000": 1, "half\uD800": { "\u0000": "\u0000" }, plain: [{ "\uDC00": null }] };

test("a zero or half a character in a key of a result fails no run, and its shape is learned", async () => {
  await using folder = await makeFolder();
  const script = join(folder.path, "odd.json");
  const tools = [{ name: "get", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
  writeFileSync(script, JSON.stringify({ tools, results: { get: { content: [], structuredContent: odd } } }));
  await using home = await startGateway({ odd: servers.scripted(script) });
  await home.ready("odd");
  await using agent = await connectClient(home.path, { transport: "http", era: "auto" });
  for (const code of ["return await mcp.odd.get({})", "const got = await mcp.odd.get({}); return { got }"]) {
    for (const attempt of [1, 2]) {
      const { status, result } = await execute(agent.client, { code });
      expect({ attempt, status }).toEqual({ attempt, status: "success" });
      expect(JSON.stringify(result)).toContain("plain");
    }
  }
  const { capabilityName } = await execute(agent.client, { code: "return await mcp.odd.get({})" });
  const { outputSchema } = await runJson<{ outputSchema: { properties: object } }>(["graph", capabilityName], {
    home: home.path,
  });
  expect(Object.keys(outputSchema.properties).toSorted()).toEqual(["half\uFFFD", "plain", "zero\uFFFD"]);
});
