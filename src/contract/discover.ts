import { z } from "zod";
import { count, intent, jsonSchema, type Received, type Sent, tags, texts } from "./wire.ts";

const MOST_RESULTS = 50;

export const discoverRequest = z.strictObject({
  intent: intent.describe("Your goal, in plain English."),
  filter: z
    .strictObject({
      type: z.enum(["tool", "capability", "skill", "all"]).default("all"),
      minScore: z.number().min(0).max(1).default(0),
      server: z.string().optional(),
      namespace: z.string().optional(),
    })
    .prefault({}),
  limit: z.number().int().min(1).max(MOST_RESULTS).default(10),
  offset: z.number().int().min(0).default(0),
  detail: z.enum(["names", "brief", "full"]).optional(),
  format: z.enum(["json", "typescript"]).default("json"),
  max_tokens: z.number().int().min(100).optional().describe("About how long the answer may be."),
  include_code: z.boolean().default(false).describe("The whole code of capabilities."),
  context_tags: tags.default([]).describe("What the task is like."),
  model: z.string().optional(),
});

const evidence = z.object({
  points: z.number().describe("Added to the ranking, in units of the spread among all candidates."),
  text: z.string(),
});

const why = z.object({
  words: evidence.optional(),
  meaning: evidence.optional(),
  name: evidence.optional(),
  intents: evidence.optional(),
  record: evidence.optional(),
  context: evidence.optional(),
  graph: evidence.optional(),
});

const stats = z.object({
  usageCount: count,
  successRate: z.number().nullable(),
  averageMs: z.number().nullable(),
  toolsUsed: texts,
});

const foundThing = z.object({
  type: z.enum(["tool", "capability", "skill"]),
  id: z.string().optional().describe("Left out with detail: brief."),
  name: z.string(),
  callName: z.string().describe("The name to call it by."),
  score: z.number().describe("Probability that this is what was asked for."),
  author: z.string().optional().describe("Whose words these are, if not yours."),
  description: z.string().optional().describe("Left out with detail: names."),
  takes: z.string().optional().describe("With detail: brief: TypeScript type of the arguments."),
  why: why.optional(),
  warnings: texts.optional().describe("Failures in contexts like this one."),
  server: z.string().optional(),
  title: z.string().optional(),
  signature: z.string().optional().describe("With format: typescript, instead of the schemas."),
  inputSchema: jsonSchema.optional(),
  outputSchema: jsonSchema.optional(),
  annotations: jsonSchema.optional(),
  tags: texts.optional(),
  source: z
    .object({ type: z.enum(["code", "dag"]), code: z.string().optional(), preview: z.string().optional() })
    .optional(),
  stats: stats.optional(),
});

export const discoverAnswer = z.object({
  results: z.array(foundThing),
  meta: z.object({
    searched: count,
    matched: count,
    offset: count,
    limit: count,
    next_offset: count.nullable().describe("null: that was all."),
    ranking: z.enum(["full", "lite", "lexical"]).describe("The evidence about meaning that was at hand."),
  }),
});

export type DiscoverRequest = Omit<Sent<typeof discoverRequest>, "intent">;
export type DiscoverAnswer = Received<typeof discoverAnswer>;
