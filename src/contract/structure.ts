import { z } from "zod";
import { jsonObject, jsonValue, type Received, texts } from "./wire.ts";

export const dagStructure = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      tool: z.string(),
      arguments: jsonObject.optional(),
      dependsOn: texts.optional(),
      condition: z.string().optional(),
      safeToFail: z.boolean().optional(),
    }),
  ),
});

/** The program of a capability: code, steps, or one tool. */
export const capabilitySource = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("code"), code: z.string() }),
    z.object({ type: z.literal("dag"), dagStructure }),
    z.object({ type: z.literal("tool"), toolId: z.string(), defaultArgs: jsonObject.optional() }),
  ])
  .meta({ id: "CapabilitySource" });

const argumentSource = z.discriminatedUnion("type", [
  z.object({ type: z.literal("literal"), value: jsonValue }),
  z.object({ type: z.literal("reference"), expression: z.string(), nodes: texts }),
  z.object({ type: z.literal("parameter"), parameterName: z.string() }),
]);

/** The source of each argument's value. */
export const argumentSources = z.record(z.string(), argumentSource);

const placed = {
  id: z.string(),
  label: z.string(),
  range: z.object({ start: z.number(), end: z.number(), line: z.number(), column: z.number() }),
};

const node = z.discriminatedUnion("type", [
  z.object({ ...placed, type: z.literal("task"), tool: z.string(), arguments: argumentSources.optional() }),
  z.object({ ...placed, type: z.literal("capability"), capability: z.string(), arguments: argumentSources.optional() }),
  z.object({ ...placed, type: z.literal("dynamic"), expression: z.string() }),
  z.object({ ...placed, type: z.literal("decision"), condition: z.string() }),
  z.object({ ...placed, type: z.literal("fork"), combinator: z.enum(["all", "allSettled", "race", "any"]) }),
  z.object({ ...placed, type: z.literal("join") }),
  z.object({ ...placed, type: z.literal("loop"), over: z.string() }),
  z.object({ ...placed, type: z.literal("try") }),
]);

const ends = { from: z.string(), to: z.string() };

export const providesEdge = z.object({
  ...ends,
  type: z.literal("provides"),
  coverage: z.enum(["strict", "partial", "optional"]).optional(),
  fieldMapping: z
    .array(z.object({ fromField: z.string(), toField: z.string(), typeCompatible: z.boolean() }))
    .optional(),
});

const edge = z.discriminatedUnion("type", [
  z.object({ ...ends, type: z.literal("sequence") }),
  z.object({ ...ends, type: z.literal("conditional"), outcome: z.string() }),
  providesEdge,
  z.object({ ...ends, type: z.literal("contains") }),
]);

/** The static graph of a program, known before it runs. */
export const structure = z.object({ nodes: z.array(node), edges: z.array(edge) }).meta({ id: "Structure" });

export type ProgramStructure = Received<typeof structure>;
