import { z } from "zod";
import { argumentSources, dagStructure, providesEdge } from "./structure.ts";
import { count, jsonSchema, texts } from "./wire.ts";

const found = {
  id: z.string(),
  callName: z.string(),
  score: z.number(),
  declaration: z.string().describe("TypeScript: how programs call it."),
};

const toolSuggestion = z.object({
  ...found,
  description: z.string().optional(),
  inputSchema: jsonSchema.optional(),
  outputSchema: jsonSchema.optional(),
});

const capabilitySuggestion = z.object({
  ...found,
  name: z.string(),
  author: z.string().optional().describe("Whose words these are, if not yours."),
  description: z.string(),
  parameters: jsonSchema,
  toolsUsed: texts,
  usageCount: count,
  successRate: z.number().nullable().describe("null before the first use."),
  outputSchema: jsonSchema.optional().describe("Learned from its results."),
  variants: count.optional().describe("Capabilities that do the same, this one included."),
  dominantPath: texts.optional().describe("The way most of its runs went."),
});

const plan = z.object({
  from: z.enum(["graph", "capability"]).describe("Edges between tools, or the program of a capability."),
  nodes: z.array(
    z.object({
      id: z.string(),
      tool: z.string().optional(),
      capability: z.string().optional(),
      arguments: argumentSources,
    }),
  ),
  edges: z.array(providesEdge.extend({ providerOutputSchema: jsonSchema, consumerInputSchema: jsonSchema })),
  missing: z.array(
    z.object({
      node: z.string(),
      argument: z.string(),
      parameter: z.string().describe("The name to pass it under."),
      schema: jsonSchema.optional(),
    }),
  ),
  confidence: z.number(),
  dag: dagStructure.optional(),
});

/** Tools and capabilities that fit an intent, and a plan made of them. */
export const suggestions = z.object({
  tools: z.array(toolSuggestion),
  capabilities: z.array(capabilitySuggestion),
  suggestedDag: plan.optional(),
  confidence: z.number().describe("How sure it is that the best capability is meant."),
});
