import { z } from "zod";
import { CACHE_POLICIES, RECORD_SORTS, RECORD_STATES } from "../registry/record-words.ts";
import { capabilitySource, structure } from "./structure.ts";
import { count, instant, jsonSchema, scope, texts } from "./wire.ts";

const MOST_LISTED = 200;

export const listCapabilitiesRequest = z.strictObject({
  namespace: z.string().optional(),
  named_only: z.boolean().default(false),
  pattern: z.string().optional().describe("Of names: fs:read_*."),
  sort_by: z.enum(RECORD_SORTS).default("name"),
  limit: z.number().int().min(1).max(MOST_LISTED).default(20),
  offset: z.number().int().min(0).default(0),
  cursor: z.string().optional().describe("next_cursor of the page before."),
});

const listed = z.object({
  id: z.string(),
  name: z.string(),
  callName: z.string(),
  author: z.string().optional().describe("Whose words these are, if not yours."),
  description: z.string(),
  namespace: z.string(),
  version: z.number(),
  usage_count: count,
  success_rate: z.number(),
  parameters: jsonSchema,
  tags: texts,
  created_at: instant,
});

export const listCapabilitiesAnswer = z.object({
  capabilities: z.array(listed),
  total: count.optional().describe("Of all pages; told with the first."),
  next_cursor: z.string().nullable(),
});

const learned = z.object({
  paths: z.array(z.object({ path: texts, count, successRate: z.number(), averageMs: z.number() })),
  dominantPath: texts.optional(),
  decisionStats: z.array(
    z.object({
      nodeId: z.string(),
      outcomes: z.record(z.string(), z.object({ count, successRate: z.number() })),
    }),
  ),
});

const edge = z.object({
  from: z.string(),
  to: z.string(),
  type: z.enum(["dependency", "contains", "sequence", "provides"]),
  source: z.enum(["template", "inferred", "observed"]),
  observed: count,
  confidence: z.number(),
  weight: z.number(),
});

/** A capability as people look at it: its program, and the knowledge from its runs. */
export const capabilityDetails = z
  .object({
    id: z.string(),
    scope,
    version: z.number(),
    displayName: z.string(),
    fqdn: z.string(),
    state: z.enum(RECORD_STATES),
    source: capabilitySource,
    sourceHash: z.string(),
    parameters: jsonSchema,
    structure,
    toolsUsed: texts,
    description: z.string().optional(),
    cachePolicy: z.enum(CACHE_POLICIES),
    ttlSeconds: z.number().optional(),
    pins: z.record(z.string(), z.number()).describe("Versions of other capabilities, by id, that it succeeded with."),
    graph: structure,
    learning: learned,
    outputSchema: jsonSchema.optional(),
    usage: z.object({ count, successes: count }),
    edges: z.array(edge),
    dependencies: texts.describe("Names of the capabilities it calls."),
  })
  .meta({ id: "CapabilityDetails" });
