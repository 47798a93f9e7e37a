import { v7 as newId } from "uuid";
import type { ApprovalRequest } from "../../src/permissions/approval.ts";
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

/** What a run would ask of a person; each is of another run, but about the same plan. */
export function askFor(
  changes: Partial<ApprovalRequest> & { readonly tools?: readonly ToolVerdict[] } = {},
): ApprovalRequest {
  const { tools = [askedTool("memory:create_entities")], ...rest } = changes;
  const reasons = tools.map(({ tool, reason }) => `${tool}: ${reason}`);
  return {
    runId: newId(),
    principal: "local",
    client: "test-client",
    intent: "Remember the total",
    code: "await mcp.memory.create_entities({ entities: args.entities });",
    codeHash: "c1",
    input: { entities: [] },
    verdict: { decision: "ask", tools, reasons },
    ...rest,
  };
}
