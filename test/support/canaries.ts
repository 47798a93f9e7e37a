/** Secrets that are planted in every input of a gateway, and the places where they must not turn up again. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { DatabaseClient } from "../../src/db/client.ts";
import { openEmbedded } from "../../src/db/open-embedded.ts";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { acquireOwnership } from "../../src/db/owner-lock.ts";

export type Canaries = Readonly<Record<string, string>>;

/** Values of a gateway's configuration and of calls that say by their place that they are secret. */
const PLANTED = [
  "serverEnvironment",
  "serverSetting",
  "serverReference",
  "serverArgument",
  "serverHeader",
  "basicPassword",
  "urlPassword",
  "urlParameter",
  "databasePassword",
  "argumentByName",
  "argumentBySchema",
  "nestedArgument",
  "nestedBySchema",
  "parkedArgument",
  "runningArgument",
  "dagArgument",
  "directArgument",
  "approvedArgument",
] as const;
/** Values that only their form gives away. */
const PATTERNED = ["literal", "parkedLiteral", "comment", "intent", "description", "tag", "summary", "reason"] as const;

export type Canary = (typeof PLANTED)[number] | (typeof PATTERNED)[number];

export function createCanaries(): Readonly<Record<Canary, string>> {
  const entries = [
    ...PLANTED.map((name) => [name, `Zq7${randomBytes(12).toString("hex")}Xk`] as const),
    ...PATTERNED.map((name) => [name, `ghp_${randomBytes(12).toString("hex")}`] as const),
  ];
  return Object.fromEntries(entries) as Record<Canary, string>;
}

/** The usual spellings of a value: as it is, in base64, escaped in JSON. */
function spell(value: string): string[] {
  const escaped = [...value].map((letter) => `u00${letter.charCodeAt(0).toString(16)}`);
  return [value, Buffer.from(value).toString("base64").replace(/=+$/, ""), escaped.join("")];
}

/** Names `canary in place` for each one that a text holds. */
export function findCanaries(canaries: Canaries, place: string, text: string): string[] {
  // JSON within JSON doubles the backslashes of escapes.
  const plain = text.replaceAll("\\", "");
  return Object.entries(canaries)
    .filter(([, value]) => spell(value).some((form) => text.includes(form) || plain.includes(form)))
    .map(([name]) => `${name} in ${place}`);
}

/** Files whose purpose is to hold secrets. */
const OWN_PLACES = new Set(["pml.json", "token", "decision-key", "secret.key"]);

export function searchFiles(home: string, canaries: Canaries): string[] {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const place = relative(home, path);
    return OWN_PLACES.has(place) ? [] : findCanaries(canaries, place, readFileSync(path, "latin1"));
  });
}

/** Searches every row of every table, with texts of binary columns. */
export async function searchTables(home: string, url: string | undefined, canaries: Canaries): Promise<string[]> {
  if (url !== undefined) {
    await using client = await openPostgres({ url, poolSize: 1 });
    return await searchRows(client, canaries);
  }
  using ownership = acquireOwnership(home);
  await using client = await openEmbedded(ownership);
  return await searchRows(client, canaries);
}

async function searchRows(client: DatabaseClient, canaries: Canaries): Promise<string[]> {
  const { rows } = await client.execute(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
  );
  const found: string[] = [];
  for (const { name } of rows as { name: string }[]) {
    const table = await client.execute(`SELECT * FROM ${name}`);
    const text = JSON.stringify(table.rows, (_key, value: unknown) => (isBytes(value) ? toText(value) : value));
    found.push(...findCanaries(canaries, `table ${name}`, text));
  }
  return found;
}

interface SerialisedBuffer {
  readonly type: "Buffer";
  readonly data: readonly number[];
}

function isBytes(value: unknown): value is SerialisedBuffer {
  return (value as SerialisedBuffer | null)?.type === "Buffer";
}

function toText({ data }: SerialisedBuffer): string {
  return Buffer.from(data).toString("utf8");
}
