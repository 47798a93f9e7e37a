import { z } from "zod";
import type { JsonSchema } from "../base/json.ts";
import type { CapabilityRecord, CapabilityVersion } from "./record.ts";

const json = z.record(z.string(), z.json());

/** A public capability as gateways exchange it, with everything its signature covers. */
export const publishedSchema = z.object({
  format: z.literal("pml-capability-1"),
  fqdn: z.string().min(1),
  display_name: z.string().min(1),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  version: z.number().int().positive(),
  version_tag: z.string().nullable(),
  code: z.string().min(1),
  source_hash: z.string(),
  parameters_schema: json,
  tools_used: z.array(z.string()),
  signature: z.string().nullable(),
});

export type Published = z.output<typeof publishedSchema>;

/** Returns undefined for DAGs and tools: they need the servers of their own gateway. */
export function toPublished(record: CapabilityRecord, version: CapabilityVersion): Published | undefined {
  const { source } = version;
  if (source?.type !== "code") return undefined;
  return {
    format: "pml-capability-1",
    fqdn: record.fqdn,
    display_name: record.displayName,
    description: record.description ?? null,
    tags: [...record.tags],
    version: version.version,
    version_tag: version.versionTag ?? null,
    code: source.code,
    source_hash: version.sourceHash,
    parameters_schema: version.parameters as JsonSchema & Published["parameters_schema"],
    tools_used: [...version.toolsUsed],
    signature: version.signature ?? null,
  };
}
