/** Writes exports of one capability each, for imports through a daemon, and reads them back. */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { ExportDigest, type ExportHeader, FORMAT_VERSION, formatRow } from "../../src/housekeeping/export-format.ts";

const SCOPE = { org: "torture", project: "default" };

/** The rows of one import: all present or none. */
function makeRows(id: string): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const { org, project } = SCOPE;
  const record = {
    org,
    id,
    project,
    fqdn: `${org}.${project}.moved.${id}`,
    display_name: `moved:${id}`,
    namespace: "moved",
    action: id,
    hash: id.slice(0, 4),
    tags: ["moved"],
  };
  const version = { org, record_id: id, version: 1, source_kind: "code", code_snippet: "return 1", source_hash: id };
  const stat = { org, record_id: id, usage_count: 1 };
  const entry = { org, id, project, action: "torture.import", subject: id, outcome: "success" };
  // Omitted columns take their defaults.
  return { capability_records: record, capability_versions: version, capability_stat: stat, audit_log: entry };
}

/** Writes the file and returns the id of its capability. */
export function writeSmallExport(path: string): string {
  const id = randomUUID();
  const rows = Object.entries(makeRows(id));
  const header: ExportHeader = {
    pml_export: FORMAT_VERSION,
    schema_version: 1,
    engine: "pglite",
    created_at: new Date().toISOString(),
    tables: rows.map(([name, row]) => ({ name, rows: 1, columns: Object.keys(row) })),
  };
  const digest = new ExportDigest();
  const lines = rows.map(([name, row]) => formatRow(name, JSON.stringify(row)));
  digest.addHeader(JSON.stringify(header));
  for (const line of lines) digest.addRow(line);
  writeFileSync(path, [JSON.stringify(header), ...lines, JSON.stringify(digest.finish()), ""].join("\n"));
  return id;
}

/** Counts the rows of each import in an export; a complete one has four. */
export function countImportedRows(path: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!line.startsWith("[")) continue;
    const [table, row] = JSON.parse(line) as [string, Readonly<Record<string, unknown>>];
    const id = table === "capability_records" || table === "audit_log" ? row["id"] : row["record_id"];
    counts.set(String(id), (counts.get(String(id)) ?? 0) + 1);
  }
  return counts;
}

export const ROWS_PER_IMPORT = 4;
