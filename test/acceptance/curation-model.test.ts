import { expect, test } from "vitest";
import { curate } from "../support/curation.ts";
import { execute } from "../support/execute.ts";
import { startGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";
import { anthropicMessage, startModelServer } from "../support/model-server.ts";
import { runJson, runPml, until } from "../support/pml.ts";
import { writeConfig } from "../support/upstream-servers.ts";

interface Asked {
  readonly n: number;
  readonly intent: string;
}

/** Names programs after their intent, some of them illegally. */
function nameByIntent(body: Record<string, unknown>): string {
  const [message] = body["messages"] as [{ content: string }];
  const programs = JSON.parse(message.content) as Asked[];
  return JSON.stringify(
    programs.map(({ n, intent }) => ({
      n,
      name: intent.endsWith("7") ? "not legal" : `util:${intent.replace(/ /g, "_")}`,
    })),
  );
}

const env = { TEST_MODEL_KEY: "sk-of-the-test" };

test("twenty unnamed capabilities make PML ask the configured model for names, five at a time [FR010] [13.10-AC6] [13.10-AC7] [13.10-AC3] [TS-O4]", async () => {
  await using server = await startModelServer(({ body }) => ({ body: anthropicMessage(nameByIntent(body)) }));
  const provider = { type: "anthropic", apiKey: { env: "TEST_MODEL_KEY" }, baseUrl: server.url };
  const curation = { afterUnnamed: 20, provider };
  await using home = await startGateway({}, { env, config: { curation } });
  const pending = async (): Promise<number> =>
    (await runJson<{ pending: number }>(["curate", "--stats"], { home: home.path })).pending;
  {
    await using connected = await connectClient(home.path, { transport: "http" });
    for (let number = 1; number < 20; number += 1)
      await execute(connected.client, { intent: `compute number ${number}`, code: `return ${number} * 2;` });
    expect(server.seen).toHaveLength(0);
    await execute(connected.client, { intent: "compute number 20", code: "return 40;" });
    await until("20 proposals", async () => (await pending()) === 20);
  }
  expect(server.seen).toHaveLength(4);
  for (const { headers, body } of server.seen) {
    expect(headers["x-api-key"]).toBe("sk-of-the-test");
    expect(body["model"]).toBe("claude-haiku-4-5");
    expect(JSON.parse((body["messages"] as [{ content: string }])[0].content)).toHaveLength(5);
  }

  await runPml(["down"], { home: home.path });
  writeConfig(home.path, { mcpServers: {}, curation: { ...curation, model: "sonnet" } });
  await runJson(["up"], { home: home.path, env });
  await using connected = await connectClient(home.path, { transport: "http" });
  const { suggestions, warnings } = await curate(connected.client);
  expect(server.seen.at(-1)?.body["model"]).toBe("claude-sonnet-4-5");
  expect(suggestions).toHaveLength(20);
  expect(suggestions.filter(({ source }) => source === "model")).toHaveLength(18);
  expect(warnings).toEqual([
    expect.stringContaining('The model proposed "not legal"'),
    expect.stringContaining('The model proposed "not legal"'),
  ]);
  expect(suggestions.map(({ suggestedName }) => suggestedName)).toContain("util:compute_number_20");
});

test("a model that does not answer leaves the names to PML, and says so", async () => {
  await using server = await startModelServer(() => ({ status: 500, body: "{}" }));
  const provider = { type: "openai", baseUrl: server.url };
  await using home = await startGateway({}, { config: { curation: { provider, model: "local" } } });
  await using connected = await connectClient(home.path, { transport: "http" });
  await execute(connected.client, { intent: "double a number", code: "return (args.n ?? 1) * 2;" });
  const { suggestions, warnings } = await curate(connected.client);
  expect(suggestions).toEqual([expect.objectContaining({ suggestedName: "util:double_number", source: "heuristic" })]);
  expect(warnings).toEqual([expect.stringContaining("it answered 500")]);
});
