import { describe, expect, test } from "vitest";
import { askedTool, askFor } from "../../test/support/approvals.ts";
import { createServerDatabase, engines, openTestDatabase } from "../../test/support/databases.ts";
import type { DatabaseClient } from "../db/client.ts";
import { migrate } from "../db/migrate.ts";
import { openPostgres } from "../db/open-postgres.ts";
import { createEventBus, type PmlEvent } from "../events.ts";
import type { ApprovalDecision } from "./approval.ts";
import { createPermissions, type Permissions } from "./permissions.ts";

const scope = { org: "acme", project: "shop" };
const config = {
  home: "/nowhere",
  file: undefined,
  permissions: { allow: [], ask: [], deny: [], effects: {} },
  approvals: { ttlMinutes: 60 },
};
const NEVER_MS = 1_000_000;
const yes: ApprovalDecision = { decision: "approve", by: "zoe", via: "cli" };
const no: ApprovalDecision = { decision: "refuse", by: "zoe", via: "dashboard", reason: "not that folder" };

async function open(
  client: DatabaseClient,
  pollMs = NEVER_MS,
): Promise<{ permissions: Permissions; told: PmlEvent[] } & AsyncDisposable> {
  const events = createEventBus();
  const told: PmlEvent[] = [];
  events.subscribe((event) => told.push(event));
  const permissions = await createPermissions({ client, events, config, pollMs });
  return { permissions, told, [Symbol.asyncDispose]: () => permissions[Symbol.asyncDispose]() };
}

/** As if the time had passed. */
async function letExpire(client: DatabaseClient): Promise<void> {
  await client.db
    .updateTable("approvals")
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .execute();
}

async function readAudit({ db }: DatabaseClient): Promise<string[]> {
  const rows = await db.selectFrom("audit_log").select(["action", "outcome"]).orderBy("id").execute();
  return rows.map(({ action, outcome }) => `${action} ${outcome}`);
}

describe.each(engines)("approvals on %s", (engine) => {
  test("a question is kept with all that was asked, listed, and decided once", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await open(client);
    const { permissions, told } = opened;
    const request = askFor({ intent: "zero \u0000 and half \uD800", capability: "fs:put" });
    const asked = await permissions.requestApproval(scope, request);
    expect(asked).toMatchObject({
      id: expect.stringMatching(/^apr_[0-9a-z]{10}$/),
      state: "pending",
      runId: request.runId,
      intent: "zero \uFFFD and half \uFFFD",
      capability: "fs:put",
      code: request.code,
      input: { entities: [] },
      tools: request.verdict.tools,
    });
    expect(asked.expiresAt.getTime() - asked.createdAt.getTime()).toBe(3_600_000);
    expect(await permissions.findApproval(scope, asked.id)).toEqual(asked);
    expect(await permissions.listApprovals(scope, { states: ["pending"] })).toEqual([asked]);
    expect(await permissions.listApprovals(scope, { runId: asked.runId })).toEqual([asked]);
    expect(await permissions.findApproval({ ...scope, project: "other" }, asked.id)).toBeUndefined();
    expect(await permissions.listApprovals({ ...scope, org: "other" })).toEqual([]);

    const { approval, rules } = await permissions.decideApproval(scope, asked.id, no);
    expect(approval).toMatchObject({ state: "refused", decidedBy: "zoe", decidedVia: "dashboard", reason: no.reason });
    expect(rules).toEqual([]);
    await expect(permissions.decideApproval(scope, asked.id, yes)).rejects.toMatchObject({
      code: "approval_decided",
      message: expect.stringContaining("it was refused by zoe (dashboard)"),
    });
    await expect(permissions.decideApproval(scope, "apr_none", yes)).rejects.toMatchObject({
      code: "approval_not_found",
    });
    expect(await permissions.listApprovals(scope, { states: ["pending"] })).toEqual([]);
    expect(told).toEqual([
      { kind: "approval_requested", ...scope, approvalId: asked.id, runId: asked.runId },
      { kind: "approval_decided", ...scope, approvalId: asked.id, runId: asked.runId, state: "refused" },
    ]);
    expect(await readAudit(client)).toEqual(["approval.request pending", "approval.decide refused"]);
  });

  test("an approval is used once, and only for exactly the plan that was approved", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await open(client);
    const { permissions } = opened;
    const request = askFor({ tools: [askedTool("a:x"), askedTool("b:y")] });
    expect(await permissions.useApproval(scope, request)).toEqual({ kind: "none" });
    const { id } = await permissions.requestApproval(scope, request);
    expect(await permissions.useApproval(scope, request)).toMatchObject({ kind: "pending", approval: { id } });
    await permissions.decideApproval(scope, id, yes);
    const others = [
      { ...request, codeHash: "edited" },
      { ...request, principal: "somebody" },
      { ...request, input: { entities: [1] } },
      askFor({ tools: [askedTool("a:x"), askedTool("b:y", { schemaHash: "changed" })] }),
      askFor({ tools: [askedTool("a:x"), askedTool("b:y", { effect: "destructive" })] }),
      askFor({ tools: [askedTool("a:x")] }),
      askFor({ tools: [askedTool("a:x"), askedTool("b:y"), askedTool("c:z")] }),
    ];
    for (const other of others) expect(await permissions.useApproval(scope, other)).toEqual({ kind: "none" });
    expect(await permissions.useApproval({ ...scope, project: "other" }, request)).toEqual({ kind: "none" });
    const reordered = askFor({ tools: [askedTool("b:y"), askedTool("a:x")] });
    expect(await permissions.useApproval(scope, reordered)).toMatchObject({
      kind: "used",
      approval: { id, usedAt: expect.any(Date) },
    });
    expect(await permissions.useApproval(scope, request)).toEqual({ kind: "none" });
    expect((await readAudit(client)).at(-1)).toBe("approval.use used");
  });

  test("the same question is one item while it is open; another question of the same run takes its place", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await open(client);
    const { permissions, told } = opened;
    const first = askFor();
    const asked = await permissions.requestApproval(scope, first);
    expect((await permissions.requestApproval(scope, askFor())).id).toBe(asked.id);
    expect(told).toHaveLength(1);
    const edited = await permissions.requestApproval(scope, { ...first, codeHash: "edited" });
    expect(edited.id).not.toBe(asked.id);
    expect(await permissions.findApproval(scope, asked.id)).toMatchObject({ state: "superseded" });
    await expect(permissions.decideApproval(scope, asked.id, yes)).rejects.toMatchObject({
      code: "approval_decided",
      message: expect.stringContaining("has asked something else since"),
    });
    expect(told.map(({ kind }) => kind)).toEqual(["approval_requested", "approval_decided", "approval_requested"]);
    await permissions.decideApproval(scope, edited.id, no);
    expect((await permissions.requestApproval(scope, { ...first, codeHash: "edited" })).id).not.toBe(edited.id);
  });

  test("expired is not refused: nobody can decide or use it any more, and a new question can be asked", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await open(client);
    const { permissions, told } = opened;
    const request = askFor();
    const unanswered = await permissions.requestApproval(scope, request);
    await letExpire(client);
    expect(await permissions.findApproval(scope, unanswered.id)).toMatchObject({ state: "expired" });
    expect(await permissions.listApprovals(scope, { states: ["pending"] })).toEqual([]);
    await expect(permissions.decideApproval(scope, unanswered.id, yes)).rejects.toMatchObject({
      code: "approval_expired",
      hint: expect.stringContaining("approvals.ttlMinutes"),
    });
    expect(await permissions.useApproval(scope, request)).toMatchObject({ kind: "expired" });

    const again = await permissions.requestApproval(scope, request);
    expect(again.id).not.toBe(unanswered.id);
    await permissions.decideApproval(scope, again.id, yes);
    await letExpire(client);
    expect(await permissions.useApproval(scope, request)).toMatchObject({
      kind: "expired",
      approval: { id: again.id },
    });
    await permissions.expireApprovals();
    expect(told.at(-1)).toMatchObject({ kind: "approval_decided", approvalId: again.id, state: "expired" });
    const count = told.length;
    await permissions.expireApprovals();
    expect(told).toHaveLength(count);
  });

  test("what can be remembered is allowed from then on: that tool, as it is, in that program, for that principal", async () => {
    await using client = await openTestDatabase(engine);
    const tools = [
      { id: "a:put", schemaHash: "p1", annotations: { destructiveHint: false } },
      { id: "a:drop", schemaHash: "d1" },
      { id: "a:get", schemaHash: "g1", annotations: { readOnlyHint: true } },
    ];
    const plan = { principal: "local", codeHash: "c1" };
    await using opened = await open(client);
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

    await using restarted = await open(client);
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
    await using opened = await open(client);
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

  test("a waiter hears of a decision, of an expiry, and of being told to stop", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await open(client);
    const { permissions } = opened;
    const { signal } = new AbortController();
    const asked = await permissions.requestApproval(scope, askFor());
    const waiting = permissions.waitForDecision(scope, asked.id, signal);
    await permissions.decideApproval(scope, asked.id, yes);
    expect(await waiting).toMatchObject({ state: "approved" });
    expect(await permissions.waitForDecision(scope, asked.id, signal)).toMatchObject({ state: "approved" });

    const other = await permissions.requestApproval(scope, askFor({ codeHash: "c2" }));
    const expiring = permissions.waitForDecision(scope, other.id, signal);
    await letExpire(client);
    await permissions.expireApprovals();
    expect(await expiring).toMatchObject({ state: "expired" });

    const third = await permissions.requestApproval(scope, askFor({ codeHash: "c3" }));
    const stop = new AbortController();
    const stopped = permissions.waitForDecision(scope, third.id, stop.signal);
    stop.abort(new Error("the client went away"));
    await expect(stopped).rejects.toThrow("the client went away");
    await expect(permissions.waitForDecision(scope, "apr_none", signal)).rejects.toMatchObject({
      code: "approval_not_found",
    });
  });

  test("a waiter finds a decision of which nobody told it", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await open(client, 30);
    const asked = await opened.permissions.requestApproval(scope, askFor());
    const waiting = opened.permissions.waitForDecision(scope, asked.id, new AbortController().signal);
    await client.db
      .updateTable("approvals")
      .set({ state: "refused", decided_at: new Date(), decided_by: "z", decided_via: "cli" })
      .execute();
    expect(await waiting).toMatchObject({ state: "refused" });
  });
});

describe("several gateways on one PostgreSQL server", () => {
  async function openGateways(
    count: number,
  ): Promise<{ gateways: Awaited<ReturnType<typeof open>>[] } & AsyncDisposable> {
    await using stack = new AsyncDisposableStack();
    const url = await createServerDatabase();
    const gateways = [];
    for (let index = 0; index < count; index += 1) {
      const client = stack.use(await openPostgres({ url, poolSize: 3 }));
      if (index === 0) await migrate(client.db);
      gateways.push(stack.use(await open(client)));
    }
    const opened = stack.move();
    return { gateways, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }

  test("of many decisions at once one counts, and each gateway hears of it once", async () => {
    await using opened = await openGateways(4);
    const { gateways } = opened;
    for (let round = 0; round < 10; round += 1) {
      const { id } = await gateways[0]!.permissions.requestApproval(scope, askFor({ codeHash: `c${round}` }));
      const waiting = gateways.map(({ permissions }) =>
        permissions.waitForDecision(scope, id, new AbortController().signal),
      );
      const answers = await Promise.allSettled(
        [yes, no, yes, no, yes, no, yes, no].map((decision, index) =>
          gateways[index % 4]!.permissions.decideApproval(scope, id, decision),
        ),
      );
      const given = answers.filter(({ status }) => status === "fulfilled");
      expect(given).toHaveLength(1);
      for (const answer of answers) {
        if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "approval_decided" });
      }
      const states = new Set((await Promise.all(waiting)).map(({ state }) => state));
      expect([...states]).toEqual([(given[0] as { value: { approval: { state: string } } }).value.approval.state]);
    }
    for (const { told } of gateways) {
      await expect.poll(() => told.filter(({ kind }) => kind === "approval_decided")).toHaveLength(10);
      expect(told.filter(({ kind }) => kind === "approval_requested")).toHaveLength(10);
    }
  });

  test("of many that use one approval at once one gets it; the same question asked by all is one item", async () => {
    await using opened = await openGateways(4);
    const { gateways } = opened;
    for (let round = 0; round < 10; round += 1) {
      const request = askFor({ codeHash: `c${round}` });
      const asked = await Promise.all(
        gateways.map(({ permissions }) => permissions.requestApproval(scope, askFor({ codeHash: `c${round}` }))),
      );
      expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
      await gateways[1]!.permissions.decideApproval(scope, asked[0]!.id, yes);
      const uses = await Promise.all(
        [...gateways, ...gateways].map(({ permissions }) => permissions.useApproval(scope, request)),
      );
      expect(uses.filter(({ kind }) => kind === "used")).toHaveLength(1);
      expect(uses.filter(({ kind }) => kind === "none")).toHaveLength(7);
    }
  });
});
