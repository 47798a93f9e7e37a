import { v7 as newId } from "uuid";
import { DEFAULT_SCOPE, type Scope } from "../../src/registry/scope.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { bindArgs, type Binding, bindText } from "../../src/permissions/binding.ts";
import type { DatabaseClient } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";
import { createEventBus, type PmlEvent } from "../../src/base/events.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../src/permissions/approval.ts";
import { createPermissions, type Permissions } from "../../src/permissions/permissions.ts";
import type { ToolVerdict } from "../../src/permissions/plan.ts";

export function askedTool(tool: string, changes: Partial<ToolVerdict> = {}): ToolVerdict {
  return {
    tool,
    schemaHash: `schema of ${tool}`,
    decision: "ask",
    effect: "write",
    routing: "local",
    reason: "it changes something (its server says so)",
    source: { kind: "default", at: "the tool's effect" },
    rememberable: true,
    ...changes,
  };
}

interface AskedFor {
  readonly scope: Scope;
  readonly principal: string;
  readonly runId: string;
  readonly client: string;
  readonly capability: string;
  readonly intent: string;
  readonly code: string;
  readonly input: JsonValue;
  readonly nested: Binding["nested"];
  readonly tools: readonly ToolVerdict[];
}

/** Builds an approval request; each belongs to another run of the same plan. */
export function askFor(changes: Partial<AskedFor> = {}): ApprovalRequest {
  const { scope = DEFAULT_SCOPE, principal = "local", input = { entities: [] }, nested = [] } = changes;
  const { tools = [askedTool("memory:create_entities")], capability } = changes;
  const { code = "await mcp.memory.create_entities({ entities: args.entities });" } = changes;
  const { runId = newId(), client = "test-client", intent = "Remember the total" } = changes;
  const reasons = tools.map(({ tool, reason }) => `${tool}: ${reason}`);
  return {
    runId,
    client,
    intent,
    ...(capability === undefined ? {} : { capability }),
    binding: {
      scope,
      principal,
      program: { kind: "code", ...bindText(code) },
      nested,
      missing: [],
      tools: tools.map(({ tool: id, schemaHash, effect }) => ({ id, schemaHash, effect })),
      dynamicCalls: [],
      args: bindArgs(input),
    },
    verdict: { decision: "ask", tools, reasons },
  };
}

export const approve: ApprovalDecision = { decision: "approve", by: "zoe", via: "cli" };
export const refuse: ApprovalDecision = {
  decision: "refuse",
  by: "zoe",
  via: "dashboard",
  reason: "not that folder",
};

const NEVER_MS = 1_000_000;

/** Opens permissions without rules, and records the events they publish. */
export async function openPermissions(
  client: DatabaseClient,
  pollMs = NEVER_MS,
): Promise<{ permissions: Permissions; told: PmlEvent[] } & AsyncDisposable> {
  const events = createEventBus();
  const told: PmlEvent[] = [];
  events.subscribe((event) => told.push(event));
  const config = {
    home: "/nowhere",
    file: undefined,
    permissions: { allow: [], ask: [], deny: [], effects: {} },
    approvals: { ttlMinutes: 60, maxPending: 100, forms: [] },
    scope: DEFAULT_SCOPE,
  };
  const permissions = await createPermissions({ client, events, config, pollMs });
  return { permissions, told, [Symbol.asyncDispose]: () => permissions[Symbol.asyncDispose]() };
}

export async function readAudit({ db }: DatabaseClient): Promise<string[]> {
  const rows = await db.selectFrom("audit_log").select(["action", "outcome"]).orderBy("id").execute();
  return rows.map(({ action, outcome }) => `${action} ${outcome}`);
}

/** Requests approvals in a home whose daemon does not run. */
export async function seedApprovals(home: string, ...requests: readonly ApprovalRequest[]): Promise<string[]> {
  using ownership = acquireOwnership(home);
  await using client = await openEmbedded(ownership);
  await migrate(client.db);
  await using opened = await openPermissions(client);
  const ids: string[] = [];
  for (const request of requests) ids.push((await opened.permissions.requestApproval(request)).id);
  return ids;
}
