import { z } from "zod";
import { count, type Received, texts } from "./wire.ts";

export const daemonStatus = z
  .object({
    pid: z.number(),
    version: z.string(),
    url: z.string(),
    home: z.string(),
    uptimeSeconds: z.number(),
    clients: count,
    permissions: z.string().describe("ok, or why nothing is permitted."),
    changedTools: count.describe("Tools whose changed definition nobody has accepted."),
    droppedRules: count.describe("Remembered rules of an earlier release that were dropped: their programs ask again."),
    loginsNeeded: texts.describe("Servers that want a login."),
    database: z.object({ engine: z.enum(["pglite", "postgres"]), at: z.string(), schemaVersion: z.number() }),
  })
  .meta({ id: "Status" });

export const indexStatus = z.object({
  tier: z.enum(["full", "lite", "lexical"]),
  documents: z.object({ tool: count, capability: count, skill: count }),
  model: z.object({
    state: z.enum(["none", "cold", "embedding", "ready", "failed"]),
    provider: z.string().optional(),
    embedded: count,
    waiting: count,
    failure: z.string().optional(),
  }),
});

const checksum = { rows: count, rows_sha256: z.string() };
export const importResult = z.object({
  ...checksum,
  added: count,
  kept: count.describe("Rows that were there already."),
  left_out: count.describe("Rows that an import does not take, or computes itself."),
  notes: texts.describe("Sentences for the person who imports: what was moved, lowered or left out."),
});
export const backupResult = z.object({
  ...checksum,
  path: z.string(),
  pml_export_end: z.literal(1),
  file_sha256: z.string(),
});

export type DaemonStatus = Received<typeof daemonStatus>;
export type ImportResult = Received<typeof importResult>;
