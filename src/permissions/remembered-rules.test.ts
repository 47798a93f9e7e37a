import { describe, expect, test } from "vitest";
import { approve as yes, askFor, openPermissions, readAudit } from "../../test/support/approvals.ts";
import { engines, openTestDatabase } from "../../test/support/databases.ts";

const scope = { org: "acme", project: "shop" };

describe.each(engines)("remembered rules on %s", (engine) => {
  test("a remembered rule allows that tool with that schema, in that program, for that principal", async () => {
    await using client = await openTestDatabase(engine);
    const tools = [
      { id: "a:put", schemaHash: "p1", annotations: { destructiveHint: false } },
      { id: "a:drop", schemaHash: "d1" },
      { id: "a:get", schemaHash: "g1", annotations: { readOnlyHint: true, believed: true } },
    ];
    const plan = { principal: "local", codeHash: "c1" };
    await using opened = await openPermissions(client);
    const { permissions } = opened;
    const verdict = await permissions.decidePlan(scope, tools, plan);
    const decisions = verdict.tools.map(({ tool, decision }) => `${tool} ${decision}`);
    expect([verdict.decision, ...decisions]).toEqual(["ask", "a:put ask", "a:drop ask", "a:get allow"]);
    const { id } = await permissions.requestApproval(scope, { ...askFor(plan), verdict });
    const { rules } = await permissions.decideApproval(scope, id, { ...yes, remember: true });
    expect(rules).toMatchObject([
      {
        id: expect.stringMatching(/^rul_/),
        tool: "a:put",
        schemaHash: "p1",
        ...plan,
        approvalId: id,
        createdBy: "zoe",
      },
    ]);

    await using restarted = await openPermissions(client);
    const later = restarted.permissions;
    expect(await later.listRules(scope)).toEqual(rules);
    const [put] = tools;
    const ask = async (planned: typeof put, by = plan, where = scope): Promise<string> =>
      (await later.decidePlan(where, [planned!], by)).decision;
    expect(await ask(put)).toBe("allow");
    expect((await later.decidePlan(scope, tools, plan)).decision).toBe("ask");
    expect(await ask({ ...put!, schemaHash: "p2" })).toBe("ask");
    expect(await ask({ ...put!, id: "b:put" })).toBe("ask");
    expect(await ask(put, { ...plan, codeHash: "c2" })).toBe("ask");
    expect(await ask(put, { ...plan, principal: "other" })).toBe("ask");
    expect(await ask(put, plan, { ...scope, project: "other" })).toBe("ask");

    expect(await later.removeRule(scope, rules[0]!.id, "zoe")).toMatchObject({ tool: "a:put" });
    expect(await ask(put)).toBe("ask");
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
      const { id } = await permissions.requestApproval(scope, askFor());
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
