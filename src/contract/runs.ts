import { z } from "zod";
import { CONFLICT_POLICIES, VISIBILITIES } from "../registry/record-words.ts";
import { runError } from "./execute.ts";
import { count, instant, jsonObject, jsonValue, type Received, scope, texts } from "./wire.ts";

export const RUN_STATES = ["running", "parked", "succeeded", "failed", "cancelled"] as const;

const runOptions = z.object({
  perLayerValidation: z.boolean().optional(),
  timeoutMs: z.number().optional(),
  contextTags: texts.optional(),
  naming: z
    .object({
      name: z.string(),
      onConflict: z.enum(CONFLICT_POLICIES).optional(),
      versionTag: z.string().optional(),
      changeSummary: z.string().optional(),
      description: z.string().optional(),
      tags: texts.optional(),
      visibility: z.enum(VISIBILITIES).optional(),
    })
    .optional()
    .describe("The name it gets once it has succeeded."),
  text: z
    .string()
    .optional()
    .describe(
      "JSON of the program as it was submitted, with its secrets hidden, where the capability has another text.",
    ),
});

export const runSummary = z
  .object({
    id: z.string(),
    scope,
    kind: z.enum(["code", "dag", "tool"]),
    state: z.enum(RUN_STATES),
    recordId: z.string(),
    capabilityName: z.string(),
    version: z.number(),
    sourceHash: z.string(),
    intent: z.string(),
    args: jsonObject,
    seed: z.number(),
    startedMs: z.number(),
    principal: z.string(),
    client: z.string().optional(),
    parent: z.object({ runId: z.string(), call: z.string() }).optional(),
    options: runOptions,
    approvedTools: texts,
    owner: z.string().optional().describe("The process that works on it."),
    approvalId: z.string().optional().describe("The approval it waits for."),
    result: jsonValue.optional(),
    error: runError.optional(),
    logs: z.array(z.object({ level: z.string(), text: z.string() })),
    createdAt: instant,
    finishedAt: instant.optional(),
  })
  .meta({ id: "Run" });

const task = z.object({
  id: z.string(),
  nodeId: z.string().optional(),
  loop: z.string(),
  tool: z.string(),
  kind: z.enum(["tool", "capability"]),
  status: z.enum(["success", "error", "unfinished"]),
  durationMs: z.number(),
  result: jsonValue.optional(),
  error: z.object({ name: z.string(), message: z.string() }).catchall(z.unknown()).optional(),
});

export const runDetails = runSummary
  .extend({
    trace: z.object({
      path: texts,
      decisions: z.array(z.object({ nodeId: z.string(), loop: z.string(), outcome: z.string() })),
      tasks: z.array(task),
    }),
    surprise: z.number().describe("From 0, it went the way all runs go, to 1, nearly none does."),
    nested: z.array(z.object({ capability: z.string(), runId: z.string() })),
    entries: count.describe("Of its journal."),
  })
  .meta({ id: "RunDetails" });

export const replayReport = z.object({
  id: z.string(),
  same: z.boolean(),
  result: jsonValue.optional(),
  error: z.string().optional(),
  path: texts,
  differences: texts,
});

export type RunRow = Received<typeof runSummary>;
export type RunView = Received<typeof runDetails>;
