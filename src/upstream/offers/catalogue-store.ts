import { formatToolId } from "../../catalogue/tool-id.ts";
import type { DiscoverResult } from "@modelcontextprotocol/client";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Scope } from "../../registry/scope.ts";
import type { Db, Tx } from "../../db/client.ts";
import type { EraVerdict } from "../connection/era-verdict.ts";
import { contentHash } from "../../base/content-hash.ts";
import { storableJson, toStorable } from "../../base/storable.ts";
import { claimedEffect, type EffectClaims } from "../../permissions/effect.ts";
import { cleanOffer, type Offer } from "./offer.ts";
import { findVerdict, type Verdict } from "./review-store.ts";

export interface StoredOffer {
  readonly server: string;
  readonly configHash: string;
  readonly offer: Offer;
}

/** A tool whose definition changed under the same name. */
export interface ToolChange {
  readonly toolId: string;
  readonly oldHash: string;
  readonly newHash: string;
  /** Null if a person has to decide. */
  readonly verdict: Verdict | null;
}

export interface KnownOffer extends StoredOffer {
  readonly era: EraVerdict | undefined;
}

export async function readOffers(db: Db, { org, project }: Scope): Promise<KnownOffer[]> {
  const rows = await db
    .selectFrom("upstream_catalogue")
    .select(["server_id", "config_hash", "offer", "era", "discovery", "era_asked_at"])
    .where("org", "=", org)
    .where("project", "=", project)
    .execute();
  return rows.map(({ server_id, config_hash, offer, era, discovery, era_asked_at: askedAt }) => ({
    server: server_id,
    configHash: config_hash,
    offer: cleanOffer(offer as Offer),
    era: era === null || askedAt === null ? undefined : { era: toEra(era, discovery), askedAt },
  }));
}

function toEra(kind: "legacy" | "modern", discovery: unknown): EraVerdict["era"] {
  return kind === "legacy" ? { kind } : { kind, discover: discovery as DiscoverResult };
}

/** Stores the era of a server; undefined deletes it. */
export async function writeEra(
  db: Db,
  { org, project }: Scope,
  { server, configHash }: Pick<StoredOffer, "server" | "configHash">,
  verdict: EraVerdict | undefined,
): Promise<void> {
  const discovery = verdict?.era.kind === "modern" ? storableJson(verdict.era.discover) : null;
  await db
    .updateTable("upstream_catalogue")
    .set({ era: verdict?.era.kind ?? null, discovery, era_asked_at: verdict?.askedAt ?? null })
    .where("org", "=", org)
    .where("project", "=", project)
    .where("server_id", "=", server)
    .where("config_hash", "=", configHash)
    .execute();
}

export interface NewOffer extends StoredOffer {
  /** True if all changes of its tools count as accepted. */
  readonly acceptsChanges: boolean;
}

/** Stores the offer of a server and returns its changed tools. */
export async function writeOffer(
  db: Db,
  scope: Scope,
  { server, configHash, offer: offered, acceptsChanges }: NewOffer,
): Promise<ToolChange[]> {
  const offer = toStorable(offered); // one description must not exclude a server
  return db.transaction().execute(async (tx) => {
    const row = { ...scope, server_id: server, config_hash: configHash, offer: JSON.stringify(offer) };
    await tx
      .insertInto("upstream_catalogue")
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(["org", "project", "server_id"]).doUpdateSet({
          config_hash: configHash,
          offer: row.offer,
          fetched_at: sql`now()`,
          // An era found with another configuration is dropped.
          era_asked_at: sql`CASE WHEN upstream_catalogue.config_hash = excluded.config_hash
              THEN upstream_catalogue.era_asked_at END`,
        }),
      )
      .execute();
    return writeTools(tx, scope, { server, offer, acceptsChanges });
  });
}

async function writeTools(
  tx: Tx,
  scope: Scope,
  { server, offer, acceptsChanges }: Pick<NewOffer, "server" | "offer" | "acceptsChanges">,
): Promise<ToolChange[]> {
  const known = new Map((await readTools(tx, scope, server)).map((row) => [row.tool_id, row]));
  const offered = new Set(offer.tools.map((tool) => formatToolId(server, tool.name)));
  const changes: ToolChange[] = [];
  const written: ToolRow[] = [];
  for (const tool of offer.tools) {
    const toolId = formatToolId(server, tool.name);
    const newHash = contentHash(tool);
    const old = known.get(toolId);
    if (old?.content_hash === newHash && old.removed_at === null) continue;
    written.push({ server, tool, hash: newHash });
    if (old === undefined || old.content_hash === newHash) continue;
    const [before, after] = [annotationsOf(old.definition), annotationsOf(tool)];
    const verdict = await findVerdict(tx, scope, { toolId, hash: newHash, before, after, acceptsChanges });
    const change = { toolId, oldHash: old.content_hash, newHash, verdict };
    changes.push(change);
    await insertChange(tx, scope, { ...change, before: old.definition, after: tool });
  }
  await upsertTools(tx, scope, written);
  const isNew = ({ tool }: ToolRow): boolean => known.get(formatToolId(server, tool.name))?.removed_at !== null;
  if (known.size > 0) await recordNew(tx, scope, written.filter(isNew));
  const removed = [...known.values()].filter((row) => row.removed_at === null && !offered.has(row.tool_id));
  for (const { tool_id } of removed) await markRemoved(tx, scope, tool_id);
  return changes;
}

function annotationsOf(definition: unknown): EffectClaims | null {
  return (definition as Partial<Offer["tools"][number]>).annotations ?? null;
}

function readTools(tx: Tx, { org, project }: Scope, server: string) {
  return tx
    .selectFrom("tool_schema")
    .select(["tool_id", "content_hash", "definition", "removed_at"])
    .where("org", "=", org)
    .where("project", "=", project)
    .where("server_id", "=", server)
    .execute();
}

interface ToolRow {
  readonly server: string;
  readonly tool: Offer["tools"][number];
  readonly hash: string;
}

/** Writes all tools with one statement: thousands of statements would block the database for seconds. */
const ROWS_PER_WRITE = 250;

async function upsertTools(tx: Tx, scope: Scope, tools: readonly ToolRow[]): Promise<void> {
  for (let start = 0; start < tools.length; start += ROWS_PER_WRITE) {
    const rows = tools.slice(start, start + ROWS_PER_WRITE).map((each) => toRow(scope, each));
    await tx
      .insertInto("tool_schema")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(["org", "project", "tool_id"]).doUpdateSet((row) => ({
          title: row.ref("excluded.title"),
          description: row.ref("excluded.description"),
          input_schema: row.ref("excluded.input_schema"),
          output_schema: row.ref("excluded.output_schema"),
          annotations: row.ref("excluded.annotations"),
          definition: row.ref("excluded.definition"),
          content_hash: row.ref("excluded.content_hash"),
          changed_at: sql<Date>`now()`,
          removed_at: null,
        })),
      )
      .execute();
  }
}

function toRow(scope: Scope, { server, tool, hash }: ToolRow) {
  return {
    ...scope,
    tool_id: formatToolId(server, tool.name),
    server_id: server,
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? null,
    input_schema: JSON.stringify(tool.inputSchema),
    output_schema: tool.outputSchema === undefined ? null : JSON.stringify(tool.outputSchema),
    annotations: tool.annotations === undefined ? null : JSON.stringify(tool.annotations),
    definition: JSON.stringify(tool),
    content_hash: hash,
  };
}

/** Records tools that a known server adds or brings back: their claims count at once where it is believed. */
async function recordNew(tx: Tx, scope: Scope, tools: readonly ToolRow[]): Promise<void> {
  for (let start = 0; start < tools.length; start += ROWS_PER_WRITE) {
    const rows = tools.slice(start, start + ROWS_PER_WRITE).map(({ server, tool, hash }) => ({
      ...scope,
      id: newId(),
      action: "tool.add",
      subject: formatToolId(server, tool.name),
      outcome: claimedEffect(tool.annotations),
      details: JSON.stringify({ hash }),
    }));
    await tx.insertInto("audit_log").values(rows).execute();
  }
}

interface WrittenChange extends ToolChange {
  readonly before: unknown;
  readonly after: unknown;
}

async function insertChange(
  tx: Tx,
  scope: Scope,
  { toolId, oldHash, newHash, verdict, before, after }: WrittenChange,
): Promise<void> {
  await tx
    .insertInto("tool_schema_change")
    .values({
      ...scope,
      id: newId(),
      tool_id: toolId,
      old_hash: oldHash,
      new_hash: newHash,
      old_definition: JSON.stringify(before),
      new_definition: JSON.stringify(after),
      verdict,
    })
    .execute();
}

async function markRemoved(tx: Tx, { org, project }: Scope, toolId: string): Promise<void> {
  await tx
    .updateTable("tool_schema")
    .set({ removed_at: sql<Date>`now()` })
    .where("org", "=", org)
    .where("project", "=", project)
    .where("tool_id", "=", toolId)
    .execute();
}
