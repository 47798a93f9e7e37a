import { DEFAULT_SCOPE } from "../registry/scope.ts";
import { describe, expect, test } from "vitest";
import { approve as yes, askFor, openPermissions, readAudit } from "../../test/support/approvals.ts";
import { sql } from "kysely";
import { createServerDatabase, engines, openTestDatabase } from "../../test/support/databases.ts";
import { migrateUpTo, migrationFiles } from "../../test/support/old-schema.ts";
import { migrate } from "../db/migrate.ts";
import { openPostgres } from "../db/open-postgres.ts";
import { countDroppedRules } from "./rule-store.ts";
import { bindArgs, bindText, hashRule } from "./binding.ts";

const scope = DEFAULT_SCOPE;

describe.each(engines)("remembered rules on %s", (engine) => {
  test("a remembered rule allows that tool with that schema, in that program, for that principal", async () => {
    await using client = await openTestDatabase(engine);
    const tools = [
      { id: "a:put", schemaHash: "p1", annotations: { destructiveHint: false } },
      { id: "a:drop", schemaHash: "d1" },
      { id: "a:get", schemaHash: "g1", annotations: { readOnlyHint: true, believed: true } },
    ];
    const { tools: _tools, ...subject } = askFor({ code: "c1" }).binding;
    await using opened = await openPermissions(client);
    const { permissions } = opened;
    const judged = await permissions.decidePlan(subject, tools);
    const { verdict } = judged;
    const decisions = verdict.tools.map(({ tool, decision }) => `${tool} ${decision}`);
    expect([verdict.decision, ...decisions]).toEqual(["ask", "a:put ask", "a:drop ask", "a:get allow"]);
    const { id } = await permissions.requestApproval({ ...askFor(), ...judged });
    const { rules } = await permissions.decideApproval(scope, id, { ...yes, remember: true });
    const rule = { tool: "a:put", schemaHash: "p1", principal: "local", approvalId: id, createdBy: "zoe" };
    expect(rules).toMatchObject([
      { ...rule, id: expect.stringMatching(/^rul_/), bindingHash: hashRule(judged.binding) },
    ]);

    await using restarted = await openPermissions(client);
    const later = restarted.permissions;
    expect(await later.listRules(scope)).toEqual(rules);
    const decidePut = async (changed: Partial<typeof subject> = {}, planned = tools): Promise<string | undefined> =>
      (await later.decidePlan({ ...subject, ...changed }, planned)).verdict.tools[0]?.decision;
    expect(await decidePut()).toBe("allow");
    expect(await decidePut({ args: bindArgs({ entities: ["other"] }) })).toBe("allow");
    expect((await later.decidePlan(subject, tools)).verdict.decision).toBe("ask");
    const [put, ...others] = tools;
    expect(await decidePut({}, [{ ...put!, schemaHash: "p2" }, ...others])).toBe("ask");
    expect(await decidePut({}, [{ ...put!, id: "b:put" }, ...others])).toBe("ask");
    expect(await decidePut({}, [put!])).toBe("ask");
    expect(await decidePut({ program: { kind: "code", ...bindText("c2") } })).toBe("ask");
    expect(await decidePut({ principal: "other" })).toBe("ask");
    expect(await decidePut({ scope: { ...scope, project: "other" } })).toBe("ask");
    const nested = { caller: "", name: "a:b", id: "1", version: 1, kind: "code", ...bindText("") } as const;
    expect(await decidePut({ nested: [nested] })).toBe("ask");

    expect(await later.removeRule(scope, rules[0]!.id, "zoe")).toMatchObject({ tool: "a:put" });
    expect(await decidePut()).toBe("ask");
    await expect(later.removeRule(scope, rules[0]!.id, "zoe")).rejects.toMatchObject({ code: "rule_not_found" });
    const audit = await readAudit(client);
    expect(audit).toContain("rule.create allow");
    expect(audit.at(-1)).toBe("rule.remove removed");
  });

  test("a rule for some days ends with them; remembering it again renews it", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await openPermissions(client);
    const { permissions } = opened;
    const approve = async (remember: true | { days: number }): Promise<void> => {
      const { id } = await permissions.requestApproval(askFor());
      await permissions.decideApproval(scope, id, { ...yes, remember });
    };
    await approve({ days: 7 });
    const [rule] = await permissions.listRules(scope);
    expect(rule!.expiresAt!.getTime() - rule!.createdAt.getTime()).toBe(7 * 86_400_000);
    await client.db
      .updateTable("permission_rules")
      .set({ expires_at: new Date(0) })
      .execute();
    expect(await permissions.listRules(scope)).toEqual([]);
    await approve(true);
    const renewed = await permissions.listRules(scope);
    expect(renewed.map(({ id, expiresAt }) => [id, expiresAt])).toEqual([[rule!.id, undefined]]);
  });
});

test("H2: approvals and rules that bound a normalised hash are dropped, and the rules are named", async () => {
  await using client = await openPostgres({ url: await createServerDatabase(), poolSize: 1 });
  const { db } = client;
  await migrateUpTo(db, migrationFiles.indexOf("0016_bindings.sql"));
  await sql`INSERT INTO permission_rules (org, id, project, short_id, principal, code_hash, tool_id, schema_hash, approval_id,
      created_by, created_via) VALUES ('local', gen_random_uuid(), 'default', 'rul_1', 'local', 'c1', 'a:put', 's1', 'apr_1', 'zoe', 'cli')`.execute(
    db,
  );
  await sql`INSERT INTO approvals (org, id, project, short_id, run_id, principal, intent, code, code_hash, tools, reasons,
      binding_hash, expires_at) VALUES ('local', gen_random_uuid(), 'default', 'apr_1', gen_random_uuid(), 'local', 'x', 'y', 'c1',
      '[]', '[]', 'b1', now() + interval '1 hour')`.execute(db);
  await migrate(db);
  const left = await Promise.all(
    ["permission_rules", "approvals"].map((table) => sql`SELECT 1 FROM ${sql.table(table)}`.execute(db)),
  );
  expect(left.map(({ rows }) => rows.length)).toEqual([0, 0]);
  expect(await countDroppedRules(db, DEFAULT_SCOPE)).toBe(1);
});
