import type { Client } from "@modelcontextprotocol/client";

interface SuggestedPlan {
  readonly from: string;
  readonly nodes: { id: string; tool?: string; arguments: Record<string, unknown> }[];
  readonly edges: { from: string; to: string; coverage: string; fieldMapping: unknown[] }[];
  readonly missing: { node: string; argument: string; parameter: string }[];
  readonly dag?: { tasks: Record<string, unknown>[] };
}

/** The answer of pml_execute, as loosely as an agent reads it. */
export interface Executed {
  readonly status: string;
  readonly result?: unknown;
  readonly mode?: string;
  readonly error?: { code: string; message: string; line?: number; column?: number; hint?: string };
  readonly approval?: { id: string; url: string; cli: string; tools: string[]; reasons: string[]; expiresAt: string };
  readonly capabilityId: string;
  readonly capabilityName: string;
  readonly capabilityFqdn: string;
  readonly version: number;
  readonly workflowId: string;
  readonly dag: { nodes: Record<string, unknown>[]; path: string[] };
  readonly tasks: { id: string; tool: string; status: string; durationMs: number; resultPreview: string }[];
  readonly plan: { nodeId?: string; tool: string; args: unknown; decision: string; recorded: boolean }[];
  readonly possible: string[];
  readonly suggestions: {
    tools: Record<string, unknown>[];
    capabilities: Record<string, unknown>[];
    suggestedDag?: SuggestedPlan;
    confidence: number;
  };
  readonly confidence?: number;
  readonly reason?: string;
  readonly logs?: string[];
  readonly warnings: string[];
  readonly isError: boolean;
}

/** Calls pml_execute; returns a failure as an answer instead of throwing it. */
export async function execute(client: Client, request: Record<string, unknown>): Promise<Executed> {
  const result = await client.callTool({
    name: "pml_execute",
    arguments: { intent: "a test", ...request },
  });
  const [first] = result.content;
  const text = first?.type === "text" ? first.text : "{}";
  return { ...(JSON.parse(text) as Executed), isError: result.isError === true };
}
