import { z } from "zod";
import { count, type Received, texts } from "./wire.ts";

const rename = z.strictObject({ id: z.string().min(1).describe("Id or name."), name: z.string() });

const cursor = z.string().optional();

/** As agents ask for it. */
export const curateRequest = z
  .strictObject({
    strategy: z
      .enum(["suggest", "auto", "apply"])
      .default("suggest")
      .describe("auto: applies what is sure; apply: your renames."),
    filter: z
      .strictObject({
        unnamed_only: z.boolean().default(true),
        namespace: z.string().optional(),
        min_usage: z.number().int().min(0).optional(),
      })
      .prefault({}),
    cursor,
    renames: z.array(rename).optional(),
    rejects: z.array(z.string().min(1)).optional().describe("Whose suggestions are wrong, for good."),
  })
  .refine(({ strategy, renames, rejects }) => strategy !== "apply" || (renames ?? rejects) !== undefined, {
    path: ["renames"],
    message: "apply needs renames or rejects",
  });

const proposalFilter = z.strictObject({
  unnamedOnly: z.boolean().optional(),
  namespace: z.string().optional(),
  minUsage: z.number().int().min(0).optional(),
});

/** As people ask for proposals, and for what is sure to be applied. */
export const proposeRequest = z.strictObject({
  filter: proposalFilter.default({}),
  dryRun: z.boolean().optional().describe("Change nothing, keep nothing."),
  minConfidence: z.number().min(0).max(1).optional(),
  limit: z.int().min(1).max(200).optional().describe("Capabilities of a page, the most used first."),
  cursor: cursor.describe("next_cursor of the page before."),
});

/** A person's decisions about proposals. */
export const decideNamesRequest = z.strictObject({
  renames: z.array(z.strictObject({ id: z.string(), name: z.string() })).default([]),
  rejects: z.array(z.string()).default([]),
});

export const nameSuggestion = z
  .object({
    id: z.string(),
    currentName: z.string(),
    suggestedName: z.string(),
    confidence: z.number(),
    reasoning: z.string(),
    source: z.enum(["heuristic", "model", "sampling"]),
  })
  .meta({ id: "NameSuggestion" });

const appliedRename = z.object({ id: z.string(), oldName: z.string(), newName: z.string() });
const failedDecision = z.object({
  id: z.string(),
  name: z.string().optional(),
  code: z.string(),
  error: z.string(),
});

const next = { next_cursor: z.string().nullable().describe("For the next page; null: that was all.") };
const suggested = { suggestions: z.array(nameSuggestion), warnings: texts, ...next };
const applied = { applied: z.array(appliedRename), failed: z.array(failedDecision) };
const automatic = {
  ...applied,
  waiting: z.array(nameSuggestion).describe("Not sure enough, or already named by somebody."),
  warnings: texts,
  ...next,
};

export const proposedNames = z.object(suggested);
export const appliedNames = z.object(automatic);
export const decidedNames = z.object({ ...applied, rejected: texts });

export const curationStats = z.object({
  pending: count,
  accepted: count,
  auto: count.describe("Accepted ones that were given without asking."),
  edited: count,
  rejected: count,
  unnamed: count.describe("Unnamed capabilities without a proposal."),
  acceptanceRate: z.number().optional().describe("Left out before the first decision."),
});

export const curationState = z.object({ pending: z.array(nameSuggestion), stats: curationStats });

export const curateAnswer = z.discriminatedUnion("strategy", [
  z.object({ strategy: z.literal("suggest"), ...suggested }),
  z.object({ strategy: z.literal("auto"), summary: z.string(), ...automatic }),
  z.object({ strategy: z.literal("apply"), summary: z.string(), ...applied, rejected: texts }),
]);

export type NameSuggestion = Received<typeof nameSuggestion>;
