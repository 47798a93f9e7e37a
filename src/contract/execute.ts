import { z } from "zod";
import { CONFLICT_POLICIES, VISIBILITIES } from "../registry/record-words.ts";
import { suggestions } from "./suggestions.ts";
import {
  changeSummary,
  description,
  instant,
  intent,
  jsonObject,
  jsonValue,
  type Received,
  type Sent,
  tags,
  texts,
} from "./wire.ts";

const MOST_TASKS = 1_000;

const dagTask = z.strictObject({
  id: z.string().min(1),
  tool: z
    .string()
    .regex(/^[^:]+:.+$/, "a tool is written server:tool")
    .describe("server:tool"),
  arguments: jsonObject.optional().describe('{"$ref":"step.field"} is a result, {"$ref":"args.x"} an argument.'),
  depends_on: z.array(z.string()).optional(),
  condition: z.string().optional().describe("[!]step.field, or step.field == JSON."),
  safe_to_fail: z.boolean().optional(),
});

export const executeRequest = z.strictObject({
  intent: intent.describe("Your goal, in plain words."),
  code: z
    .string()
    .min(1)
    .optional()
    .describe(
      "TypeScript, body of an async function: await mcp.<server>.<tool>({…}), await capabilities.<namespace>.<action>({…}), read args, return JSON. No imports, files or network.",
    ),
  capability: z.string().min(1).optional().describe("Name of one to run; @v1, @v1.2.0 or @2025-12-22 for a version."),
  args: jsonObject.optional(),
  context: jsonObject.optional().describe("Like args; without code or capability, PML looks for one."),
  dag: z
    .strictObject({ tasks: z.array(dagTask).min(1).max(MOST_TASKS) })
    .optional()
    .describe("Steps instead of code."),
  continue_workflow: z
    .strictObject({ workflow_id: z.uuid(), approved: z.boolean().optional() })
    .optional()
    .describe("Go on with a run that waits; approved: false ends it."),
  accept_suggestion: z
    .strictObject({ callName: z.string().min(1), args: jsonObject.optional() })
    .optional()
    .describe("Run what was suggested. With a name, a tool becomes a capability with args as defaults."),
  name: z.string().optional().describe("For the new capability: namespace:action."),
  on_conflict: z.enum(CONFLICT_POLICIES).optional().describe("If the name is taken."),
  version_tag: z.string().optional().describe("v1.2.0"),
  change_summary: changeSummary.optional(),
  description: description.optional(),
  tags: tags.optional(),
  visibility: z.enum(VISIBILITIES).optional(),
  options: z
    .strictObject({
      timeout: z.number().positive().optional().describe("Seconds; sandbox.wallMs at most."),
      per_layer_validation: z.boolean().optional().describe("Stop after each layer of calls."),
      dry_run: z.boolean().optional().describe("Only say what would be called."),
      context_tags: tags.optional(),
      detail: z.enum(["brief", "full"]).default("brief"),
    })
    .prefault({}),
});

export const runError = z
  .object({
    code: z.string(),
    message: z.string(),
    line: z.number().optional().describe("Of the program as it was sent, from 1."),
    column: z.number().optional(),
    hint: z.string().optional(),
  })
  .meta({ id: "RunError" });

const taskReport = z.object({
  id: z.string().describe("Unique in the run; pml_get_task_result takes it."),
  tool: z.string(),
  status: z.enum(["success", "error", "unfinished"]),
  durationMs: z.number(),
  resultPreview: z.string(),
});

const plannedCall = z.object({
  nodeId: z.string().optional(),
  tool: z.string(),
  args: jsonValue,
  decision: z.enum(["allow", "ask", "deny", "unknown"]),
  recorded: z.boolean().describe("Whether an earlier run had an answer to it."),
});

const approvalNotice = z.object({ id: z.string(), tools: texts, expiresAt: instant });

const identity = {
  capabilityId: z.string().optional(),
  capabilityName: z.string().optional(),
  capabilityFqdn: z.string().optional(),
  version: z.number().optional(),
  parameters: z
    .array(z.object({ name: z.string(), type: z.string().optional(), required: z.boolean() }))
    .optional()
    .describe("Values of the program that became parameters of the capability."),
  workflowId: z.string().optional().describe("The run; continue_workflow takes it."),
  traceId: z.string().optional(),
  executionTimeMs: z.number(),
  dag: z.object({ nodes: z.array(jsonObject), path: texts }).optional(),
  tasks: z.array(taskReport).optional(),
  logs: texts.optional(),
  warnings: texts,
};

const outcomes = {
  success: { status: z.literal("success"), result: jsonValue },
  error: { status: z.literal("error"), error: runError },
  layerComplete: { status: z.literal("layer_complete") },
  dryRun: {
    status: z.literal("dry_run"),
    plan: z.array(plannedCall),
    possible: texts.describe("Tools of the program that it did not come to."),
    result: jsonValue.optional(),
    error: runError.optional(),
  },
};

const readyCall = z
  .object({ capability: z.string(), args: jsonObject })
  .describe("A capability that may do the same with these values, and would not have to ask.");

const engineFacts = z.object({ mode: z.enum(["direct", "call_by_name", "dag"]), ...identity });

/** The engine's report about a run, before the edge adds links and advice. */
const runAnswer = z.discriminatedUnion("status", [
  engineFacts.extend(outcomes.success),
  engineFacts.extend(outcomes.error),
  engineFacts.extend({ status: z.literal("approval_required"), approval: approvalNotice, ready: readyCall.optional() }),
  engineFacts.extend(outcomes.layerComplete),
  engineFacts.extend(outcomes.dryRun),
]);

const facts = z.object({
  mode: z
    .enum(["direct", "call_by_name", "dag", "speculation"])
    .optional()
    .describe("Left out where nothing was run or found."),
  ...identity,
  confidence: z.number().optional().describe("Of a speculation: how sure it was that this capability was meant."),
});

export const executeAnswer = z.discriminatedUnion("status", [
  facts.extend(outcomes.success),
  facts.extend(outcomes.error),
  facts.extend({
    status: z.literal("approval_required"),
    approval: approvalNotice.extend({ url: z.string().describe("Where a person decides.") }),
    ready: readyCall.optional(),
    next: z.string(),
  }),
  facts.extend(outcomes.layerComplete),
  facts.extend(outcomes.dryRun),
  z.object({
    status: z.literal("suggestions"),
    mode: z.enum(["suggestion", "speculation"]),
    suggestions,
    reason: z.string(),
  }),
]);

export type RunError = Received<typeof runError>;
export type TaskReport = Received<typeof taskReport>;
export type PlannedCall = Received<typeof plannedCall>;
export type RunAnswer = Received<typeof runAnswer>;
export type ExecuteRequest = Sent<typeof executeRequest>;
export type ExecuteAnswer = Received<typeof executeAnswer>;
