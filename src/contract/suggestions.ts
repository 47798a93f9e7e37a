import { z } from "zod";
import { argumentSources, dagStructure, providesEdge } from "./structure.ts";
import { count, jsonObject, jsonSchema, texts } from "./wire.ts";

const found = {
  callName: z.string(),
  score: z.number(),
  description: z.string().optional(),
  takes: z.string().optional().describe("TypeScript type of the arguments; with detail: full, schemas instead."),
  declaration: z.string().optional().describe("TypeScript: how programs call it."),
};

const toolSuggestion = z.object({
  ...found,
  id: z.string().optional(),
  inputSchema: jsonSchema.optional(),
  outputSchema: jsonSchema.optional(),
});

const capabilitySuggestion = z.object({
  ...found,
  author: z.string().optional().describe("Whose words these are, if not yours."),
  call: z.object({ capability: z.string(), args: jsonObject }).describe("For pml_execute: arguments as far as known."),
  sources: z
    .record(z.string(), z.enum(["given", "constant", "enum", "seen", "span"]))
    .optional()
    .describe("Where arguments come from; span is a guess from the intent's words."),
  missing: texts.optional().describe("Required arguments without a value."),
  variants: count.optional().describe("Capabilities that do the same, this one included."),
  id: z.string().optional(),
  name: z.string().optional(),
  parameters: jsonSchema.optional(),
  toolsUsed: texts.optional(),
  usageCount: count.optional(),
  successRate: z.number().nullable().optional().describe("null before the first use."),
  outputSchema: jsonSchema.optional().describe("Learned from its results."),
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
