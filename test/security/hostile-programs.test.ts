import { describe, expect, test } from "vitest";
import { execute } from "../support/execute.ts";
import { shareGateway, startGateway } from "../support/gateway-home.ts";
import { hostilePrograms, NESTED_ALIASES } from "../support/hostile-programs.ts";
import { connectClient } from "../support/mcp-client.ts";

describe("C2: programs that are short and large at once", () => {
  const gateway = shareGateway({});

  test("C2: nested type aliases are refused by name, and the gateway goes on", async () => {
    expect(NESTED_ALIASES.length).toBeLessThan(980);
    await using agent = await connectClient(gateway().path);
    const refused = await execute(agent.client, { code: NESTED_ALIASES });
    expect(refused.error).toMatchObject({ code: "limit_exceeded" });
    expect(refused.error?.message).toContain("analysis.maxOutputBytes");
    const answered = await execute(agent.client, { code: "return 1 + 1" });
    expect(answered).toMatchObject({ status: "success", result: 2 });
  });

  test.each(hostilePrograms)("C2: $what", async ({ code, refused }) => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const answer = await execute(agent.client, { code });
    expect(answer.error?.message ?? answer.status).toContain(refused ?? "success");
  });
});

test("C2: reading a program ends at analysis.maxMillis, while others are answered", async () => {
  await using gateway = await startGateway({}, { config: { analysis: { maxMillis: 1 } } });
  await using agent = await connectClient(gateway.path, { transport: "http" });
  await using other = await connectClient(gateway.path, { transport: "http" });
  const events: string[] = [];
  const code = Array.from({ length: 9_000 }, (_, at) => `let v${at} = args.a${at};`).join("\n");
  const hostile = execute(agent.client, { code }).then((answer) => {
    events.push("hostile");
    return answer;
  });
  await other.client.listTools().then(() => events.push("list"));
  expect((await hostile).error?.message).toContain("analysis.maxMillis");
  expect(events).toEqual(["list", "hostile"]);
});
