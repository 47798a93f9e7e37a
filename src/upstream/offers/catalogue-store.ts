import type { DiscoverResult } from "@modelcontextprotocol/client";
import { sql } from "kysely";
import type { Scope } from "../../registry/scope.ts";
import type { Db } from "../../db/client.ts";
import type { EraVerdict } from "../connection/era-verdict.ts";
import { storableJson, toStorable } from "../../base/storable.ts";
import { cleanOffer, type Offer } from "./offer.ts";
import type { ToolChange } from "./change-store.ts";
import { writeTools } from "./tool-store.ts";

export interface StoredOffer {
  readonly server: string;
  readonly configHash: string;
  readonly offer: Offer;
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
    return writeTools(tx, scope, { server, tools: offer.tools, acceptsChanges });
  });
}
