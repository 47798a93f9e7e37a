import { describe, expect, test } from "vitest";
import { readDaemonAddress } from "../../src/daemon/daemon-file.ts";
import { execute } from "../support/execute.ts";
import { call, listsEverything, shareGateway } from "../support/gateway-home.ts";
import { connectClient } from "../support/mcp-client.ts";

const MEGABYTES = "x".repeat(3_500_000);

describe("texts that agents give", () => {
  const gateway = shareGateway({}, { config: listsEverything });

  test("H7: a description of megabytes is refused, and one at the limit is listed", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const save = { code: "return 7", name: "util:seven" };
    const refused = await call(agent.client, "pml_execute", { intent: "seven", ...save, description: MEGABYTES });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toContain('\\"description\\": expected at most 1024 characters');
    expect(refused.text.length).toBeLessThan(1_000);
    const kept = await execute(agent.client, { ...save, description: "d".repeat(1_024) });
    expect(kept.status).toBe("success");
    const { tools } = await agent.client.listTools();
    expect(tools.find(({ name }) => name === "cap__util__seven")?.description).toBe("d".repeat(1_024));
  });

  test("L7: an intent of megabytes is refused at once, here and in searches", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    for (const [tool, more] of [
      ["pml_execute", { code: "return 1" }],
      ["pml_execute", {}],
      ["pml_discover", {}],
    ] as const) {
      const refused = await call(agent.client, tool, { intent: MEGABYTES, ...more });
      expect(refused.text).toContain('\\"intent\\": expected at most 4096 characters');
    }
  });

  test("H7: an intent stands for a missing description, shortened", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    await execute(agent.client, { intent: "i".repeat(4_096), code: "return 8", name: "util:eight" });
    const { tools } = await agent.client.listTools();
    expect(tools.find(({ name }) => name === "cap__util__eight")?.description).toMatch(/^i{1023}…$/);
  });

  test.each([
    ["33 tags", { tags: Array.from({ length: 33 }, (_, at) => `t${at}`) }, '\\"tags\\": expected at most 32 items'],
    ["a tag of 65 characters", { tags: ["t".repeat(65)] }, "at most 64 characters"],
    ["a long summary", { change_summary: "s".repeat(1_025) }, "at most 1024 characters"],
    ["33 context tags", { options: { context_tags: Array.from({ length: 33 }, String) } }, "at most 32 items"],
    [
      "1,001 tasks",
      { dag: { tasks: Array.from({ length: 1_001 }, (_, at) => ({ id: `t${at}`, tool: "a:b" })) } },
      "1000",
    ],
  ])("H7: %s is refused", async (_, more, message) => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const refused = await call(agent.client, "pml_execute", { intent: "tags", code: "return 9", ...more });
    expect(refused.text).toContain(message);
  });

  test("H7: the standard library has the same limits", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const update = { name: "util:seven", code: "return 77", description: MEGABYTES };
    expect((await call(agent.client, "dns__update", update)).text).toContain("at most 1024 characters");
    const tags = { name: "util:seven", tags: Array.from({ length: 33 }, String) };
    expect((await call(agent.client, "dns__tag", tags)).text).toContain("at most 32 items");
  });

  test("H7: arguments beyond sandbox.maxArgumentBytes are refused by name", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const { error } = await execute(agent.client, { code: "return 1", args: { x: "x".repeat(1_100_000) } });
    expect(error).toMatchObject({ code: "limit_exceeded" });
    expect(error?.message).toContain("sandbox.maxArgumentBytes");
  });

  test("L7: a schema of parameters that is too large to list is left out of lists", async () => {
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const names = Array.from({ length: 3_000 }, (_, at) => `p${at}`);
    const code = `${names.map((name) => `if (args.${name}) console.log(1);`).join("\n")}\nreturn 1`;
    const made = await execute(agent.client, { code, name: "util:greedy" });
    expect(made.status).toBe("success");
    const { tools } = await agent.client.listTools();
    const listed = tools.find(({ name }) => name === "cap__util__greedy");
    expect(JSON.stringify(listed?.inputSchema ?? "").length).toBeLessThan(1_000);
    expect(await call(agent.client, "cap__util__greedy", { p7: true })).toMatchObject({ isError: false });
  });
});

describe("messages of clients", () => {
  const gateway = shareGateway({});

  async function post(body: string): Promise<{ readonly status: number; readonly text: string }> {
    const address = readDaemonAddress(gateway().path);
    if (address === undefined) throw new Error("no daemon runs");
    const headers = {
      authorization: `Bearer ${address.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const response = await fetch(new URL("/mcp", address.url), { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  }

  const messages: readonly (readonly [string, string, string])[] = [
    ["deep arrays", "[".repeat(2_000_000), "500 levels"],
    ["deep objects", '{"a":'.repeat(700_000), "500 levels"],
    ["deep behind blank lines", "[\n\n".repeat(10_000), "500 levels"],
    ["deep behind an escaped quote", `["\\"",${"[".repeat(10_000)}`, "500 levels"],
    ["many empty arrays", `[${"[],".repeat(1_300_000)}1]`, "250000 values"],
    ["many keys", `{${Array.from({ length: 300_000 }, (_, at) => `"k${at}":1`).join()}}`, "250000 values"],
  ];

  test.each(messages)("L7: %s are refused before they are parsed", async (_, inner, message) => {
    const { status, text } = await post(
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pml_execute","arguments":${inner}}}`,
    );
    expect(status).toBe(400);
    expect(text).toContain(message);
  });

  test("L7: brackets in strings do not count", async () => {
    const args = JSON.stringify({ text: '[{"\\'.repeat(100_000) });
    await using agent = await connectClient(gateway().path, { transport: "http" });
    const { result } = await execute(agent.client, {
      code: "return args.text.length",
      args: JSON.parse(args) as object,
    });
    expect(result).toBe(400_000);
  });
});
