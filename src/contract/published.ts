import { z } from "zod";
import {
  RECORD_STATES,
  RECORD_TYPES,
  HEALTHS,
  ROUTINGS,
  VISIBILITIES,
  CACHE_POLICIES,
} from "../registry/record-words.ts";
import { capabilitySource } from "./structure.ts";
import { count, instant, jsonObject, jsonSchema, texts } from "./wire.ts";

/** A public capability as gateways hand it to each other, with everything its signature covers. */
export const publishedCapability = z
  .object({
    format: z.literal("pml-capability-1"),
    fqdn: z.string().min(1),
    display_name: z.string().min(1),
    description: z.string().nullable(),
    tags: texts,
    version: z.number().int().positive(),
    version_tag: z.string().nullable(),
    code: z.string().min(1),
    source_hash: z.string(),
    parameters_schema: jsonObject,
    tools_used: texts,
    signature: z.string().nullable(),
  })
  .meta({ id: "PublishedCapability" });

export const publishedList = z.object({
  capabilities: z.array(
    z.object({
      fqdn: z.string(),
      display_name: z.string(),
      description: z.string().nullable(),
      version: z.number(),
      version_tag: z.string().nullable(),
      tags: texts,
      tools_used: texts,
      path: z.string(),
    }),
  ),
  next_cursor: z.string().nullable(),
});

export const adoptRequest = z.strictObject({ published: publishedCapability, name: z.string().min(1).optional() });

export const adoptAnswer = z.object({
  display_name: z.string(),
  fqdn: z.string(),
  forked_from: z.string().optional(),
  warnings: texts,
});

export const aliasRequest = z.strictObject({ name: z.string().min(1), alias: z.string().min(1) });

export const shareRequest = z.strictObject({ name: z.string().min(1), visibility: z.enum(VISIBILITIES) });

export const serverRecordRequest = z.strictObject({
  text: z.string().min(1).describe("A server.json; it is kept byte for byte."),
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, "has lower-case letters, digits and inner hyphens")
    .optional(),
  visibility: z.enum(VISIBILITIES).optional(),
});

export const registeredServer = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  changed: z.boolean().describe("Whether anything was stored; the same again changes nothing."),
});

export const serverRecordText = z.object({ text: z.string(), document: jsonSchema });

/** A record as the registry keeps it. */
export const storedRecord = z
  .object({
    id: z.string(),
    recordType: z.enum(RECORD_TYPES),
    fqdn: z.string(),
    displayName: z.string(),
    org: z.string(),
    project: z.string(),
    namespace: z.string(),
    action: z.string(),
    hash: z.string(),
    state: z.enum(RECORD_STATES),
    health: z.enum(HEALTHS),
    visibility: z.enum(VISIBILITIES),
    description: z.string().optional(),
    tags: texts,
    routing: z.enum(ROUTINGS).optional(),
    cachePolicy: z.enum(CACHE_POLICIES),
    ttlSeconds: z.number().optional(),
    verified: z.boolean(),
    signature: z.string().optional(),
    version: z.number(),
    versionTag: z.string().optional(),
    source: capabilitySource.optional(),
    parameters: jsonSchema,
    toolsUsed: texts,
    usageCount: count,
    successCount: count,
    totalLatencyMs: z.number(),
    lastUsedAt: instant.optional(),
    aliases: texts,
    parentId: z.string().optional(),
    forkedFrom: z.string().optional(),
    createdBy: z.string(),
    createdAt: instant,
    updatedBy: z.string(),
    updatedAt: instant,
    archivedAt: instant.optional(),
  })
  .meta({ id: "StoredRecord" });
