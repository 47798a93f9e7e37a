/** Writes exports of one capability each, for imports through a daemon, and reads them back. */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { ExportDigest, type ExportHeader, FORMAT_VERSION, formatRow } from "../../src/housekeeping/export-format.ts";

/** The scope of the daemon: an import into another one would give its rows other ids. */
const SCOPE = { org: "local", project: "default" };

/** The rows of one import: all present or none. */
function makeRows(id: string): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const { org, project } = SCOPE;
  const action = `m${id.replaceAll("-", "")}`;
  const at = new Date().toISOString();
  const record = {
    org,
    id,
    project,
    fqdn: `${org}.${project}.moved.${action}.0000`,
    display_name: `moved:${action}`,
    namespace: "moved",
    action,
    hash: "0000",
    state: "active",
    version: 1,
    tags: ["moved"],
    created_at: at,
    updated_at: at,
  };
  const version = {
    org,
    record_id: id,
    version: 1,
    source_kind: "code",
    code_snippet: `return "${id}"`,
    source: null,
    source_hash: "",
    parameters_schema: null,
    tools_used: [],
    signature: null,
    created_at: at,
  };
  // Omitted columns take their defaults.
  return { capability_records: record, capability_versions: version };
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

/** Counts the rows of each import in an export: a complete one has a record, a version, counters and a source. */
export function countImportedRows(path: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!line.startsWith("[")) continue;
    const [table, row] = JSON.parse(line) as [string, Readonly<Record<string, unknown>>];
    const id = table === "capability_records" ? row["id"] : row["record_id"];
    counts.set(String(id), (counts.get(String(id)) ?? 0) + 1);
  }
  return counts;
}

export const ROWS_PER_IMPORT = 4;
