/** Secrets that only their place or their name gives away, looked for in everything that is stored. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { searchFiles, searchTables } from "../support/canaries.ts";
import { execute } from "../support/execute.ts";
import { makeFolder } from "../support/folder.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { runPml } from "../support/pml.ts";
import { servers } from "../support/upstream-servers.ts";

/** Words, so that no form gives them away. */
function makeWords(): string {
  return `harbour-${randomBytes(8).toString("hex").replaceAll(/\d/g, "q")}-violet`;
}

const configured = {
  variable: makeWords(),
  longVariable: makeWords(),
  header: makeWords(),
  urlPassword: makeWords(),
  connection: makeWords(),
  opaque: `x${randomBytes(7).toString("hex")}1!`,
};
const given = {
  secretAccessKey: makeWords(),
  clientSecret: makeWords(),
  connectionString: makeWords(),
  apiKeyValue: makeWords(),
  signingKey: makeWords(),
};
const number = 8_675_309_417;
const canaries = { ...configured, ...given, number: String(number) };

test("values after -e, in addresses of variables, under names of any spelling and as numbers are stored nowhere", async () => {
  await using folder = await makeFolder();
  const script = join(folder.path, "telling.json");
  const tools = [{ name: "tell", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
  const content = [{ type: "text", text: `I was given ${Object.values(configured).join(" and ")}` }];
  writeFileSync(script, JSON.stringify({ tools, results: { tell: { content } } }));
  const entry = servers.scripted(script);
  const telling = {
    ...entry,
    args: [
      ...(entry.args ?? []),
      "-e",
      `ACME_TOKEN=${configured.variable}`,
      `--env=ACME_CLIENT_SECRET=${configured.longVariable}`,
      "--header",
      `X-Api-Key: ${configured.header}`,
    ],
    env: {
      DATABASE_URL: `postgres://app:${configured.urlPassword}@db.example/app`,
      STORE: `Server=db.example;Password=${configured.connection};Pooling=true`,
      ACME_SETTING: configured.opaque,
    },
  };
  await using home = await startGateway({ telling });
  await home.ready("telling");
  {
    await using agent = await connectClient(home.path, { transport: "http", era: "auto" });
    const code = "return await mcp.telling.tell({ ...args })";
    const args = { ...given, login: { password: number }, max_tokens: 4_096, keyboard: "qwertz-layout" };
    const { status, result } = await execute(agent.client, { code, args });
    expect(status).toBe("success");
    expect(JSON.stringify(result)).toContain(configured.variable);
  }
  await runPml(["down"], { home: home.path });
  expect(await searchTables(home.path, undefined, canaries)).toEqual([]);
  expect(searchFiles(home.path, canaries)).toEqual([]);
  const kept = { amount: "4096", layout: "qwertz-layout" };
  const places = await searchTables(home.path, undefined, kept);
  expect(places.some((place) => place.startsWith("amount in table"))).toBe(true);
  expect(places.some((place) => place.startsWith("layout in table"))).toBe(true);
});
