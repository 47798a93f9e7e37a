import { sql } from "kysely";
import { CAPABILITY_PREFIX } from "../../catalogue/tool-id.ts";
import type { Db } from "../../db/client.ts";

export interface VectorKey {
  readonly org: string;
  readonly provider: string;
}

export async function readVectors(
  db: Db,
  { org, provider }: VectorKey,
  hashes: readonly string[],
): Promise<Map<string, Float32Array>> {
  const rows = await db
    .selectFrom("embedding_cache")
    .select(["text_hash", "dimensions", "vector"])
    .where("org", "=", org)
    .where("provider", "=", provider)
    .where("text_hash", "in", [...hashes])
    .execute();
  return new Map(
    rows.map(({ text_hash: hash, dimensions, vector }) => [hash, toFloats(vector).subarray(0, dimensions)]),
  );
}

export async function writeVectors(
  db: Db,
  { org, provider }: VectorKey,
  vectors: ReadonlyMap<string, Float32Array>,
): Promise<void> {
  await db
    .insertInto("embedding_cache")
    .values(
      [...vectors].map(([hash, vector]) => ({
        org,
        provider,
        text_hash: hash,
        dimensions: vector.length,
        vector: Buffer.from(vector.slice().buffer),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Copies the bytes: those from the wire need not be aligned to four. */
function toFloats(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** Drops old vectors; those still in use are computed again. */
export async function dropOldVectors(db: Db, keepDays: number): Promise<void> {
  await sql`DELETE FROM embedding_cache WHERE created_at < now() - make_interval(days => ${keepDays})`.execute(db);
}

/** Drops all but the latest intents of each subject; the limits exceed the numbers that search uses. */
export async function dropOldIntents(
  db: Db,
  kept: { readonly tool: number; readonly capability: number },
): Promise<void> {
  await sql`DELETE FROM discovery_intent d USING (
      SELECT org, project, subject, intent_hash,
        row_number() OVER (PARTITION BY org, project, subject ORDER BY changed_at DESC) AS place
      FROM discovery_intent) o
    WHERE o.place > CASE WHEN o.subject LIKE ${`${CAPABILITY_PREFIX}%`} THEN ${kept.capability}::integer ELSE ${kept.tool}::integer END AND d.org = o.org AND d.project = o.project AND d.subject = o.subject
      AND d.intent_hash = o.intent_hash`.execute(db);
}
