import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { engines, openTestDatabase } from "../../../test/support/databases.ts";
import { until } from "../../../test/support/pml.ts";
import { type Principal, principalId } from "../../auth/principal.ts";
import { DEFAULT_SCOPE } from "../../registry/scope.ts";
import { createLogger } from "../../base/log.ts";
import { createUsageLog, type UsageLogParts } from "./usage-log.ts";

const log = createLogger({ level: "silent", file: undefined, secrets: [] });
const use = {
  server: "",
  client: "test",
  outcome: "refused",
  durationMs: 1,
  requestBytes: 2,
  responseBytes: 3,
  calledAt: new Date(),
} as const;

describe.each(engines)("usage log on %s", (engine) => {
  test("a call under an impossible name is recorded, and so are the calls after it", async () => {
    await using client = await openTestDatabase(engine);
    {
      await using usage = createUsageLog({ client, scope: DEFAULT_SCOPE, log });
      usage.record({ ...use, tool: "a\u0000b", client: "zero \u0000, half \uD800" });
      usage.record({ ...use, tool: Array.from({ length: 20_000 }, (_, index) => index.toString(36)).join("") });
      usage.record({ ...use, tool: "echo", server: "chaos", outcome: "success" });
      usage.record({ ...use, tool: "echo", server: "chaos", outcome: "timeout" });
      usage.record({ ...use, tool: "echo", server: "chaos", outcome: "cancelled" });
    }
    // discovery learns only from calls that say something about the tool
    expect(await client.db.selectFrom("discovery_tally").select(["subject", "uses", "successes"]).execute()).toEqual([
      { subject: "chaos:echo", uses: 2, successes: 1 },
    ]);
    const rows = await client.db.selectFrom("tool_usage").select(["tool_name", "client"]).orderBy("id").execute();
    expect(rows).toEqual([
      { tool_name: "a\uFFFDb", client: "zero \uFFFD, half \uFFFD" },
      { tool_name: expect.stringMatching(/^.{500}$/), client: "test" },
      { tool_name: "echo", client: "test" },
      { tool_name: "echo", client: "test" },
      { tool_name: "echo", client: "test" },
    ]);
    expect(await client.db.selectFrom("audit_log").select("subject").execute()).toHaveLength(5);
  });

  test("the audit log has what each call of a batch has, and no more", async () => {
    await using client = await openTestDatabase(engine);
    {
      await using usage = createUsageLog({ client, scope: DEFAULT_SCOPE, log });
      usage.record({ ...use, tool: "echo" });
      usage.record({ ...use, tool: "echo", client: undefined, errorCode: "limit_reached" });
    }
    const logged = await client.db.selectFrom("audit_log").select("details").orderBy("id").execute();
    expect(logged.map(({ details }) => details)).toEqual([
      { client: "test" },
      { client: null, error: "limit_reached" },
    ]);
    const used = await client.db.selectFrom("tool_usage").select(["client", "error_code"]).orderBy("id").execute();
    expect(used).toEqual([
      { client: "test", error_code: null },
      { client: null, error_code: "limit_reached" },
    ]);
  });

  test("under load many calls share a statement, and a pause is used", async () => {
    await using client = await openTestDatabase(engine);
    let [calls, statements] = [0, 0];
    const watched: typeof client = {
      ...client,
      executePrepared: (...given) => (statements++, client.executePrepared(...given)),
    };
    {
      await using usage = createUsageLog({ client: watched, scope: DEFAULT_SCOPE, log });
      usage.record({ ...use, tool: "echo", server: "chaos", outcome: "success" });
      calls += 1;
      await until("a pause is used", () => statements === 1);
      for (const end = Date.now() + 500; Date.now() < end; await pause(1)) {
        usage.record({ ...use, tool: "echo", server: "chaos", outcome: "success" });
        calls += 1;
      }
    }
    expect(await client.db.selectFrom("tool_usage").select("id").execute()).toHaveLength(calls);
    expect(statements).toBeLessThan(20);
  });

  test("a call of a principal names it, and makes it known once", async () => {
    await using client = await openTestDatabase(engine);
    const issuer = "https://login.example";
    const principal = (subject: string): Principal => ({
      id: principalId(issuer, subject),
      subject,
      issuer,
      clientId: "app",
      scopes: ["mcp"],
    });
    const odd = principal(`\u0000${"\u{10FFFF}".repeat(5_000)}`);
    for (const callers of [
      [principal("ada"), principal("ada"), odd],
      [principal("ada"), principal("app")],
    ]) {
      await using usage = createUsageLog({ client, scope: DEFAULT_SCOPE, log });
      for (const each of callers) usage.record({ ...use, tool: "echo", principal: each });
    }
    const known = await client.db.selectFrom("principals").select(["id", "kind", "name"]).orderBy("name").execute();
    expect(known).toMatchObject([
      { id: principalId(issuer, "ada"), kind: "person", name: `ada (${issuer})` },
      { kind: "service", name: `app (${issuer})` },
      { id: odd.id },
    ]);
    const [row] = await client.db.selectFrom("audit_log").select(["principal_id", "details"]).orderBy("id").execute();
    expect(row).toEqual({
      principal_id: principalId(issuer, "ada"),
      details: { client: "test", principal: principal("ada") },
    });
    const used = await client.db.selectFrom("tool_usage").select("principal_id").execute();
    expect(used.filter(({ principal_id: id }) => id === principalId(issuer, "ada"))).toHaveLength(3);
  });
});

test("while the database does not answer, no more than one write waits for the one under way", async () => {
  let attempts = 0;
  const client = {
    executePrepared: async () => {
      attempts += 1;
      await pause(400);
      throw new Error("the database does not answer");
    },
  } as unknown as UsageLogParts["client"];
  {
    await using usage = createUsageLog({ client, scope: DEFAULT_SCOPE, log });
    for (const end = Date.now() + 1_000; Date.now() < end; await pause(1)) usage.record({ ...use, tool: "echo" });
  }
  expect(attempts).toBeGreaterThan(1);
  expect(attempts).toBeLessThan(7); // one in 400 ms, one queued, and the last
});
