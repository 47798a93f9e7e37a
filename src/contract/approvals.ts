import { z } from "zod";
import { EFFECTS } from "../permissions/effect.ts";
import { ROUTINGS } from "../registry/record-words.ts";
import { instant, type Received, texts } from "./wire.ts";

const DECIDED_VIA = ["cli", "dashboard", "elicitation"] as const;

export const toolVerdict = z
  .object({
    tool: z.string(),
    schemaHash: z.string(),
    decision: z.enum(["allow", "ask", "deny"]),
    effect: z.enum(EFFECTS),
    routing: z.enum(ROUTINGS),
    reason: z.string(),
    source: z.object({ kind: z.enum(["file", "config", "default", "remembered"]), at: z.string() }),
    rememberable: z.boolean().describe("Whether a person may allow it for this program once and for all."),
  })
  .meta({ id: "ToolVerdict" });

export const approval = z
  .object({
    id: z.string(),
    runId: z.string(),
    state: z.enum(["pending", "approved", "refused", "expired", "superseded"]),
    principal: z.string(),
    client: z.string().optional(),
    capability: z.string().optional(),
    intent: z.string(),
    tools: z.array(toolVerdict),
    reasons: texts,
    createdAt: instant,
    expiresAt: instant.describe("Until when it can be decided; once approved, until when it can be used."),
    decidedAt: instant.optional(),
    decidedBy: z.string().optional(),
    decidedVia: z.enum(DECIDED_VIA).optional(),
    reason: z.string().optional(),
    usedAt: instant.optional(),
  })
  .meta({ id: "Approval" });

export const askedApproval = approval
  .extend({ question: z.string().describe("Everything a person decides about, as every channel shows it.") })
  .meta({ id: "AskedApproval" });

export const rememberedRule = z
  .object({
    id: z.string(),
    tool: z.string(),
    schemaHash: z.string(),
    bindingHash: z.string().describe("Of what it covers: program, nested versions, tools, principal, scope."),
    principal: z.string(),
    capability: z.string().optional(),
    approvalId: z.string(),
    createdBy: z.string(),
    createdVia: z.enum(DECIDED_VIA),
    createdAt: instant,
    expiresAt: instant.optional(),
  })
  .meta({ id: "RememberedRule" });

export const decisionRequest = z.strictObject({
  decision: z.enum(["approve", "refuse"]),
  via: z.enum(["cli", "dashboard"]),
  reason: z.string().optional().describe("Goes back to the agent."),
  remember: z
    .union([z.literal(true), z.strictObject({ days: z.number().positive() })])
    .optional()
    .describe("Do not ask again for this program, for good or for some days."),
});

export const decidedApproval = z.object({ approval, rules: z.array(rememberedRule) });

export type AskedApproval = Received<typeof askedApproval>;
export type SentApproval = Received<typeof approval>;
export type SentRule = Received<typeof rememberedRule>;
