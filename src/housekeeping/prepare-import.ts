import type { z } from "zod";
import { invalidExport } from "./export-format.ts";
import type { ImportPlan } from "./import-plan.ts";
import {
  closePlan,
  pinKey,
  planRecord,
  planVersion,
  prepareAlias,
  prepareDependencies,
  prepareRecord,
  prepareRename,
  type VersionParts,
} from "./import-records.ts";
import {
  aliasRow,
  FINISHED_STATES,
  journalRow,
  type PinRow,
  pinRow,
  recordRow,
  renameRow,
  resultRow,
  runRow,
  traceRow,
  versionRow,
} from "./import-rows.ts";
import { prepareJournal, prepareResult, prepareRun, prepareTrace } from "./import-runs.ts";
import type { ImportedTable, PreparedRow, PreparedRows } from "./prepared-rows.ts";
import { type ExportedRow, readExportRows } from "./verify-export.ts";

interface Preparation extends VersionParts {
  readonly plan: ImportPlan;
  readonly prepared: PreparedRows;
  readonly resultSeconds: number;
}

/** Computes every row that an import writes. Records come first: versions, names and runs depend on them. */
export async function prepareImport(path: string, preparation: Preparation): Promise<void> {
  const { plan, prepared } = preparation;
  for await (const { table, row } of readExportRows(path)) {
    if (table === "capability_records") planRecord(plan, parseRow(recordRow, table, row));
  }
  await prepareVersions(path, preparation);
  const pins = new Map<string, PinRow>();
  for await (const { table, row } of readExportRows(path)) {
    if (table === "capability_dependency") {
      const pin = parseRow(pinRow, table, row);
      pins.set(pinKey(pin.from_record_id, pin.from_version, pin.to_record_id), pin);
      continue;
    }
    const ready = prepareRow(table, row, preparation);
    if (ready !== undefined) await prepared.add(ready.table, ready.owner, ready.row);
  }
  for (const row of prepareDependencies(plan, pins))
    await prepared.add("capability_dependency", String(row["from_record_id"]), row);
  await prepared.finish();
}

/** Programs that cannot be read may take this long altogether: each one may use its whole limit of time. */
const LONGEST_REFUSALS_MS = 60_000;

async function prepareVersions(path: string, { plan, prepared, ...parts }: Preparation): Promise<void> {
  let refusedMs = 0;
  for await (const { table, row } of readExportRows(path)) {
    if (table !== "capability_versions") continue;
    const given = parseRow(versionRow, table, row);
    const started = performance.now();
    const version = await planVersion(plan, given, parts);
    if (version !== undefined) await prepared.add(table, plan.idOf(given.record_id), version);
    else refusedMs += performance.now() - started;
    if (refusedMs > LONGEST_REFUSALS_MS) throw invalidExport("reading its programs takes too long");
  }
  closePlan(plan);
}

interface ReadyRow {
  readonly table: ImportedTable;
  readonly owner: string;
  readonly row: PreparedRow;
}

/** Rows of all other tables are not taken: this gateway computes them, or a person decides them. */
function prepareRow(table: string, row: ExportedRow, { plan, resultSeconds }: Preparation): ReadyRow | undefined {
  switch (table) {
    case "capability_records":
      return ofRecord(table, prepareRecord(plan, parseRow(recordRow, table, row)));
    case "capability_aliases":
      return ofRecord(table, prepareAlias(plan, parseRow(aliasRow, table, row)));
    case "capability_rename_history":
      return ofRecord(table, prepareRename(plan, parseRow(renameRow, table, row)));
    case "execution_run":
      return isFinished(plan, row) ? ofRun(table, prepareRun(plan, parseRow(runRow, table, row))) : undefined;
    case "run_journal":
      return ofRun(table, tryJournal(plan, row));
    case "execution_trace":
      return ofRun(table, prepareTrace(plan, parseRow(traceRow, table, row)));
    case "task_results":
      return ofRun(table, prepareResult(plan, parseRow(resultRow, table, row), resultSeconds));
    default:
      return undefined;
  }
}

function ofRecord(table: ImportedTable, row: PreparedRow | undefined): ReadyRow | undefined {
  return row && { table, owner: String(row["record_id"] ?? row["id"]), row };
}

function ofRun(table: ImportedTable, row: PreparedRow | undefined): ReadyRow | undefined {
  return row && { table, owner: "", row };
}

/** Runs that were under way are not memory: their grants and journals are for the gateway that started them. */
function isFinished(plan: ImportPlan, { state, record_id: record }: ExportedRow): boolean {
  const isKnown = FINISHED_STATES.some((each) => each === state);
  if (!isKnown) plan.note("An unfinished run was left out");
  return isKnown && typeof record === "string";
}

/** A journal of another shape cannot be replayed; the run is worth keeping without it. */
function tryJournal(plan: ImportPlan, row: ExportedRow): PreparedRow | undefined {
  const parsed = journalRow.safeParse(row);
  if (parsed.success) return prepareJournal(plan, parsed.data);
  plan.note("A journal could not be read and was left out");
  return undefined;
}

function parseRow<Schema extends z.ZodType>(schema: Schema, table: string, row: ExportedRow): z.output<Schema> {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidExport(`a row of ${table} is not valid: ${issue?.path.join(".")}: ${issue?.message}`, parsed.error);
}
