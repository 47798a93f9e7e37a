import { readFileSync, writeFileSync } from "node:fs";
import { v7 as newId } from "uuid";
import { ExportDigest, type ExportHeader, FORMAT_VERSION, formatRow } from "../../src/housekeeping/export-format.ts";

type ForgedRow = Readonly<Record<string, unknown>>;
export type ForgedRows = readonly (readonly [table: string, row: ForgedRow])[];

/** Writes an export by hand, with correct checksums, as an attacker who knows the format would. */
export function forgeExport(path: string, rows: ForgedRows): string {
  return forgeLines(
    path,
    rows.map(([table, row]) => formatRow(table, JSON.stringify(row))),
  );
}

/** Writes lines that need not be rows. */
export function forgeLines(path: string, lines: readonly string[]): string {
  const header: ExportHeader = {
    pml_export: FORMAT_VERSION,
    schema_version: 1,
    engine: "pglite",
    created_at: AT,
    tables: [],
  };
  const digest = new ExportDigest();
  digest.addHeader(JSON.stringify(header));
  for (const line of lines) digest.addRow(line);
  writeFileSync(path, [JSON.stringify(header), ...lines, JSON.stringify(digest.finish()), ""].join("\n"));
  return path;
}

export function readRows(path: string): ForgedRows {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("["))
    .map((line) => JSON.parse(line) as [string, ForgedRow]);
}

const AT = "2026-01-02T03:04:05+00:00";

export interface Forged {
  readonly id: string;
  readonly rows: ForgedRows;
}

/** The rows of a capability, with any columns that a forger likes. */
export function forgeCapability(
  name: string,
  code: string,
  more: { readonly scope?: ForgedRow; readonly record?: ForgedRow; readonly version?: ForgedRow } = {},
): Forged {
  const id = newId();
  const scope = { org: "local", project: "default", ...more.scope };
  const [namespace = "", action = ""] = name.split(":");
  const record = {
    ...scope,
    id,
    record_type: "capability",
    fqdn: `${scope.org}.${scope.project}.${namespace}.${action}.beef`,
    display_name: name,
    namespace,
    action,
    hash: "beef",
    state: "active",
    version: 1,
    visibility: "private",
    tags: [],
    created_at: AT,
    updated_at: AT,
    ...more.record,
  };
  const version = {
    org: scope.org,
    record_id: id,
    version: 1,
    source_kind: "code",
    code_snippet: code,
    source: null,
    source_hash: "beef".repeat(16),
    parameters_schema: null,
    tools_used: [],
    signature: null,
    created_at: AT,
    ...more.version,
  };
  return {
    id,
    rows: [
      ["capability_records", record],
      ["capability_versions", version],
    ],
  };
}

/** The rows of a run, by default a finished one. */
export function forgeRun(record: string, more: ForgedRow = {}): Forged {
  const id = newId();
  const org = "local";
  const run = {
    org,
    id,
    project: "default",
    record_id: record,
    version: 1,
    kind: "code",
    intent: "forged",
    input: {},
    state: "succeeded",
    seed: 1,
    started_ms: 1_767_323_045_000,
    principal: "local",
    options: {},
    result: 1,
    created_at: AT,
    finished_at: AT,
    ...more,
  };
  const trace = {
    org,
    run_id: id,
    project: "default",
    record_id: record,
    version: 1,
    success: true,
    executed_path: [],
    decisions: [],
    task_summaries: [],
    duration_ms: 1,
    created_at: AT,
  };
  const journal = { org, run_id: id, seq: 0, kind: "batch", payload: { entries: [] }, written_at: AT };
  return {
    id,
    rows: [
      ["execution_run", run],
      ["run_journal", journal],
      ["execution_trace", trace],
    ],
  };
}
