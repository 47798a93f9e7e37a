import { randomUUID } from "node:crypto";
import type { Scope } from "../registry/scope.ts";
import type { DatabaseClient, Tx } from "../db/client.ts";
import type { EventBus, PmlEvent } from "../base/events.ts";
import { APPROVAL_CHANNEL, type ApprovalMessage, notifyApproval, writeAudit } from "./announce-store.ts";
import {
  type Approval,
  type ApprovalDecision,
  type ApprovalRequest,
  type ApprovalUse,
  type DecidedApproval,
  notDecidable,
  notFound,
} from "./approval.ts";
import {
  expireOverdue,
  findApproval,
  findBoundApproval,
  findOpenApproval,
  insertApproval,
  supersedeApprovals,
  takeApproval,
  writeDecision,
} from "./approval-store.ts";
import { type Binding, hashBinding } from "./binding.ts";
import { limitPending } from "./pending-store.ts";
import { rememberApproval } from "./rule-store.ts";
import type { Hiding } from "./secret-value.ts";
import { showBinding } from "./show-binding.ts";

export interface ApprovalsOptions {
  readonly client: DatabaseClient;
  readonly events: EventBus;
  readonly secrets: Pick<Hiding, "placeholderOf">;
  /** How long a waiter relies on notifications before it polls. */
  readonly pollMs?: number;
  /** How many questions of a principal may be open. */
  readonly maxPending: () => number;
}

export interface Approvals extends AsyncDisposable {
  request(request: ApprovalRequest, ttlMinutes: number): Promise<Approval>;
  decide(scope: Scope, id: string, decision: ApprovalDecision, ttlMinutes: number): Promise<DecidedApproval>;
  use(binding: Binding): Promise<ApprovalUse>;
  wait(scope: Scope, id: string, signal: AbortSignal): Promise<Approval>;
  expire(): Promise<void>;
}

const POLL_MS = 2_000;

/**
 * Approval requests and decisions. Publishes each change after its commit, on this gateway and through the database
 * on others.
 */
export async function createApprovals(options: ApprovalsOptions): Promise<Approvals> {
  const { client, events, secrets, pollMs = POLL_MS, maxPending } = options;
  const gatewayId = randomUUID();
  const listening = await client.listen(APPROVAL_CHANNEL, {
    onNotification(payload) {
      const { from, event } = JSON.parse(payload) as ApprovalMessage;
      if (from !== gatewayId) events.publish(event);
    },
    onReconnect: () => undefined, // waiters poll, so a missed notification only costs time
  });

  const commit: Commit = async (work) => {
    const announced: PmlEvent[] = [];
    const result = await client.db.transaction().execute((tx) =>
      work({
        tx,
        maxPending: maxPending(),
        async announce(event) {
          announced.push(event);
          await notifyApproval(tx, { from: gatewayId, event });
        },
      }),
    );
    for (const event of announced) events.publish(event);
    return result;
  };

  return {
    request: ({ schema, ...request }, ttlMinutes) => {
      const binding = showBinding(request.binding, { placeholderOf: secrets.placeholderOf, schema });
      return requestApproval(commit, { ...request, binding }, ttlMinutes);
    },
    decide: (scope, id, decision, ttlMinutes) =>
      commit((writer) => decideApproval(writer, scope, { id, decision, ttlMinutes })),
    use: (binding) => client.db.transaction().execute((tx) => useApproval(tx, binding)),
    async wait(scope, id, signal) {
      for (;;) {
        signal.throwIfAborted();
        using changed = watchFor(events, id, { signal, pollMs });
        const approval = await findApproval(client.db, scope, id);
        if (approval === undefined) throw notFound(id);
        if (approval.state !== "pending") return approval;
        await changed.promise;
      }
    },
    expire: () =>
      commit(async (writer) => {
        for (const { scope, approval } of await expireOverdue(writer.tx)) await announceClosed(writer, scope, approval);
      }),
    [Symbol.asyncDispose]: () => listening.close(),
  };
}

interface AnnouncingTx {
  readonly tx: Tx;
  readonly maxPending: number;
  /** Queues an event to be published after the commit. */
  readonly announce: (event: PmlEvent) => Promise<void>;
}
type Commit = <T>(work: (writer: AnnouncingTx) => Promise<T>) => Promise<T>;

async function requestApproval(commit: Commit, request: ApprovalRequest, ttlMinutes: number): Promise<Approval> {
  const { scope } = request.binding;
  const binding = hashBinding(request.binding);
  for (;;) {
    const open = await commit(async (writer) => {
      const { tx } = writer;
      for (const expired of await expireOverdue(tx, binding)) {
        await announceClosed(writer, expired.scope, expired.approval);
      }
      for (const approval of await supersedeApprovals(tx, scope, request.runId, binding)) {
        await announceClosed(writer, scope, approval);
      }
      const approval = await insertApproval(tx, request, ttlMinutes);
      if (approval !== undefined) {
        await limitPending(tx, scope, { principal: approval.principal, most: writer.maxPending });
        await announceRequested(writer, scope, approval);
      }
      return approval ?? findOpenApproval(tx, scope, binding);
    });
    // A decision between the two queries closed it, so this is a new request.
    if (open !== undefined) return open;
  }
}

async function announceRequested({ tx, announce }: AnnouncingTx, scope: Scope, approval: Approval): Promise<void> {
  const { id, runId } = approval;
  const details = describe(approval);
  await writeAudit(tx, scope, { action: "approval.request", subject: id, outcome: "pending", details });
  await announce({ kind: "approval_requested", ...scope, approvalId: id, runId });
}

async function decideApproval(
  writer: AnnouncingTx,
  scope: Scope,
  given: { id: string; decision: ApprovalDecision; ttlMinutes: number },
): Promise<DecidedApproval> {
  const { tx } = writer;
  const { id, decision } = given;
  const approval = await writeDecision(tx, scope, given);
  if (approval === undefined) throw notDecidable(id, await findApproval(tx, scope, id));
  const rules = approval.state === "approved" ? await rememberApproval(tx, scope, approval, decision) : [];
  const { by, via, reason } = decision;
  for (const rule of rules) {
    await writeAudit(tx, scope, {
      action: "rule.create",
      subject: rule.id,
      outcome: "allow",
      details: { by, via, tool: rule.tool, principal: rule.principal, binding: rule.bindingHash, approval: id },
    });
  }
  await announceClosed(writer, scope, approval, { by, via, reason });
  return { approval, rules };
}

async function useApproval(tx: Tx, { scope, ...rest }: Binding): Promise<ApprovalUse> {
  const binding = hashBinding({ scope, ...rest });
  const taken = await takeApproval(tx, scope, binding);
  if (taken !== undefined) {
    const details = describe(taken);
    await writeAudit(tx, scope, { action: "approval.use", subject: taken.id, outcome: "used", details });
    return { kind: "used", approval: taken };
  }
  const last = await findBoundApproval(tx, scope, binding);
  if (last === undefined || last.state === "approved" || last.state === "superseded") return { kind: "none" };
  // a refusal holds until the request would have expired
  if (last.state === "refused" && last.expiresAt.getTime() <= Date.now()) return { kind: "none" };
  return { kind: last.state, approval: last };
}

/** Records and announces that an approval is no longer pending. */
async function announceClosed(
  { tx, announce }: AnnouncingTx,
  scope: Scope,
  approval: Approval,
  decided: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { id, runId, state } = approval;
  if (state === "pending") throw new Error(`${id} is still open`);
  await writeAudit(tx, scope, {
    action: "approval.decide",
    subject: id,
    outcome: state,
    details: { ...describe(approval), ...decided },
  });
  await announce({ kind: "approval_decided", ...scope, approvalId: id, runId, state });
}

function describe({ runId, principal, binding, tools }: Approval): Record<string, unknown> {
  return { runId, principal, binding: hashBinding(binding), tools: tools.map(({ tool }) => tool) };
}

/** Resolves at the next event about an approval or after the poll interval; rejects on abort. */
function watchFor(
  events: EventBus,
  id: string,
  { signal, pollMs }: { signal: AbortSignal; pollMs: number },
): Disposable & { readonly promise: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined); // an abort may reject it before anyone awaits it
  const abort = (): void => reject(signal.reason as Error);
  const unsubscribe = events.subscribe((event) => {
    if (event.kind === "approval_decided" && event.approvalId === id) resolve();
  });
  const timer = setTimeout(resolve, pollMs);
  signal.addEventListener("abort", abort, { once: true });
  return {
    promise,
    [Symbol.dispose]() {
      unsubscribe();
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}
