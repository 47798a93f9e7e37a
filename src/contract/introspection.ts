import { z } from "zod";
import { curationStats } from "./curation.ts";
import { count, instant, type Received } from "./wire.ts";

const MOST_TOOLS = 1_000;
const LONGEST_DAYS = 3_650;

export const knownToolsRequest = z.strictObject({
  server: z.string().optional().describe("Only of this server; pml-capabilities are the capabilities."),
  limit: z.number().int().min(1).max(MOST_TOOLS).default(200),
  offset: z.number().int().min(0).default(0),
});

const knownTool = z.object({
  name: z.string(),
  callName: z.string(),
  server: z.string(),
  description: z.string(),
});

export const knownToolsAnswer = z.object({
  tools: z.array(knownTool),
  total: count,
  next_offset: count.nullable(),
});

export const knownServersRequest = z.strictObject({});

export const knownServer = z.object({
  name: z.string(),
  state: z.string(),
  tools: count,
  protocol: z.string().nullable().optional(),
  failures: count.optional(),
});

export const knownServersAnswer = z.object({ servers: z.array(knownServer) });

export const usageRequest = z.strictObject({
  days: z.number().positive().max(LONGEST_DAYS).default(30).describe("Of the last so many days."),
});

export const usageFacts = z.object({
  capabilities: z.object({ named: count, unnamed: count, drafts: count, archived: count }),
  tools: z.array(
    z.object({
      server: z.string(),
      tool: z.string(),
      calls: count,
      success_rate: z.number(),
      avg_latency_ms: z.number().nullable(),
      last_at: instant,
    }),
  ),
  naming: curationStats.optional().describe("Only for the owner."),
});

export const usageAnswer = usageFacts.extend({ days: z.number() });

export type KnownTool = Received<typeof knownTool>;
