import { DEFAULT_SCOPE } from "../registry/scope.ts";
import { MAX } from "uuid";
import { describe, expect, test } from "vitest";
import {
  approve as yes,
  askedTool,
  askFor,
  openPermissions,
  readAudit,
  refuse as no,
} from "../../test/support/approvals.ts";
import { engines, openTestDatabase } from "../../test/support/databases.ts";
import type { DatabaseClient } from "../db/client.ts";

const scope = DEFAULT_SCOPE;
/** Moves the expiry into the past. */
async function letExpire(client: DatabaseClient): Promise<void> {
  await client.db
    .updateTable("approvals")
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .execute();
}

describe.each(engines)("approvals on %s", (engine) => {
  test("a request is stored in full, listed, and decided once", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await openPermissions(client);
    const { permissions, told } = opened;
    const request = askFor({ intent: "zero \u0000 and half \uD800", capability: "fs:put" });
    const asked = await permissions.requestApproval(request);
    expect(asked).toMatchObject({
      id: expect.stringMatching(/^apr_[0-9a-z]{10}$/),
      state: "pending",
      runId: request.runId,
      intent: "zero \uFFFD and half \uFFFD",
      capability: "fs:put",
      binding: {
        program: { text: "await mcp.memory.create_entities({ entities: args.entities });" },
        args: { text: '{\n  "entities": []\n}' },
      },
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
    await using opened = await openPermissions(client);
    const { permissions } = opened;
    const tools = [askedTool("a:x"), askedTool("b:y")];
    const request = askFor({ tools });
    expect(await permissions.useApproval(request.binding)).toEqual({ kind: "none" });
    const { id } = await permissions.requestApproval(request);
    expect(await permissions.useApproval(request.binding)).toMatchObject({ kind: "pending", approval: { id } });
    await permissions.decideApproval(scope, id, yes);
    const others = [
      askFor({ tools, code: "edited" }),
      askFor({ tools, principal: "somebody" }),
      askFor({ tools, input: { entities: [1] } }),
      askFor({ tools, scope: { ...scope, project: "other" } }),
      askFor({ tools: [askedTool("a:x"), askedTool("b:y", { schemaHash: "changed" })] }),
      askFor({ tools: [askedTool("a:x"), askedTool("b:y", { effect: "destructive" })] }),
      askFor({ tools: [askedTool("a:x")] }),
      askFor({ tools: [askedTool("a:x"), askedTool("b:y"), askedTool("c:z")] }),
    ];
    for (const other of others) expect(await permissions.useApproval(other.binding)).toEqual({ kind: "none" });
    const reordered = askFor({ tools: [askedTool("b:y"), askedTool("a:x")] });
    expect(await permissions.useApproval(reordered.binding)).toMatchObject({
      kind: "used",
      approval: { id, usedAt: expect.any(Date) },
    });
    expect(await permissions.useApproval(request.binding)).toEqual({ kind: "none" });
    expect((await readAudit(client)).at(-1)).toBe("approval.use used");
  });

  test("equal requests are one item while pending; another request of the same run supersedes it", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await openPermissions(client);
    const { permissions, told } = opened;
    const first = askFor();
    const asked = await permissions.requestApproval(first);
    expect((await permissions.requestApproval(askFor())).id).toBe(asked.id);
    expect(told).toHaveLength(1);
    const editedPlan = askFor({ runId: first.runId, code: "edited" });
    const edited = await permissions.requestApproval(editedPlan);
    expect(edited.id).not.toBe(asked.id);
    expect(await permissions.findApproval(scope, asked.id)).toMatchObject({ state: "superseded" });
    await expect(permissions.decideApproval(scope, asked.id, yes)).rejects.toMatchObject({
      code: "approval_decided",
      message: expect.stringContaining("has asked something else since"),
    });
    expect(told.map(({ kind }) => kind)).toEqual(["approval_requested", "approval_decided", "approval_requested"]);
    await permissions.decideApproval(scope, edited.id, no);
    // simulates a gateway whose clock is ahead
    await client.db.updateTable("approvals").set({ id: MAX }).where("short_id", "=", edited.id).execute();
    const last = await permissions.requestApproval(editedPlan);
    expect(last.id).not.toBe(edited.id);
    expect((await permissions.requestApproval(editedPlan)).id).toBe(last.id);
    expect(await permissions.useApproval(editedPlan.binding)).toMatchObject({ kind: "pending" });
  });

  test("an expired approval is not refused: it can be neither decided nor used, and a new request is possible", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await openPermissions(client);
    const { permissions, told } = opened;
    const request = askFor();
    const unanswered = await permissions.requestApproval(request);
    await letExpire(client);
    expect(await permissions.findApproval(scope, unanswered.id)).toMatchObject({ state: "expired" });
    expect(await permissions.listApprovals(scope, { states: ["pending"] })).toEqual([]);
    await expect(permissions.decideApproval(scope, unanswered.id, yes)).rejects.toMatchObject({
      code: "approval_expired",
      hint: expect.stringContaining("approvals.ttlMinutes"),
    });
    expect(await permissions.useApproval(request.binding)).toMatchObject({ kind: "expired" });

    const again = await permissions.requestApproval(request);
    expect(again.id).not.toBe(unanswered.id);
    await permissions.decideApproval(scope, again.id, yes);
    await letExpire(client);
    expect(await permissions.useApproval(request.binding)).toMatchObject({
      kind: "expired",
      approval: { id: again.id },
    });
    await permissions.expireApprovals();
    expect(told.at(-1)).toMatchObject({ kind: "approval_decided", approvalId: again.id, state: "expired" });
    const count = told.length;
    await permissions.expireApprovals();
    expect(told).toHaveLength(count);

    const third = await permissions.requestApproval(request);
    await permissions.decideApproval(scope, third.id, no);
    expect(await permissions.useApproval(request.binding)).toMatchObject({
      kind: "refused",
      approval: { id: third.id },
    });
    await letExpire(client);
    expect(await permissions.useApproval(request.binding)).toEqual({ kind: "none" });
  });

  test("a waiter resolves on a decision and an expiry, and rejects on abort", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await openPermissions(client);
    const { permissions } = opened;
    const { signal } = new AbortController();
    const asked = await permissions.requestApproval(askFor());
    const waiting = permissions.waitForDecision(scope, asked.id, signal);
    await permissions.decideApproval(scope, asked.id, yes);
    expect(await waiting).toMatchObject({ state: "approved" });
    expect(await permissions.waitForDecision(scope, asked.id, signal)).toMatchObject({ state: "approved" });

    const other = await permissions.requestApproval(askFor({ code: "c2" }));
    const expiring = permissions.waitForDecision(scope, other.id, signal);
    await letExpire(client);
    await permissions.expireApprovals();
    expect(await expiring).toMatchObject({ state: "expired" });

    const third = await permissions.requestApproval(askFor({ code: "c3" }));
    const stop = new AbortController();
    const stopped = permissions.waitForDecision(scope, third.id, stop.signal);
    stop.abort(new Error("the client went away"));
    await expect(stopped).rejects.toThrow("the client went away");
    await expect(permissions.waitForDecision(scope, "apr_none", signal)).rejects.toMatchObject({
      code: "approval_not_found",
    });
  });

  test("old approvals are deleted, and stay in the audit log", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await openPermissions(client);
    const { permissions } = opened;
    const [old, recent] = [askFor({ code: "old" }), askFor({ code: "recent" })];
    const { id } = await permissions.requestApproval(old);
    await permissions.decideApproval(scope, id, yes);
    await letExpire(client);
    const kept = await permissions.requestApproval(recent);
    await permissions.dropApprovals(1);
    expect(await permissions.listApprovals(scope)).toHaveLength(2);
    await permissions.dropApprovals(0);
    expect((await permissions.listApprovals(scope)).map((each) => each.id)).toEqual([kept.id]);
    expect(await readAudit(client)).toContain("approval.decide approved");
  });

  test("a waiter finds a decision without a notification", async () => {
    await using client = await openTestDatabase(engine);
    await using opened = await openPermissions(client, 30);
    const asked = await opened.permissions.requestApproval(askFor());
    const waiting = opened.permissions.waitForDecision(scope, asked.id, new AbortController().signal);
    await client.db
      .updateTable("approvals")
      .set({ state: "refused", decided_at: new Date(), decided_by: "z", decided_via: "cli" })
      .execute();
    expect(await waiting).toMatchObject({ state: "refused" });
  });
});
