import { createReadStream } from "node:fs";
import type { z } from "zod";
import { bumpScope } from "../registry/scope-version-store.ts";
import type { DatabaseClient, Tx } from "../db/client.ts";
import { PmlError } from "../base/errors.ts";
import { splitLines } from "../base/lines.ts";
import {
  ExportDigest,
  type ExportFooter,
  type ExportHeader,
  footerSchema,
  headerSchema,
  invalidExport,
  splitRow,
} from "./export-format.ts";
import {
  addMissingCounters,
  analyzeTables,
  insertRows,
  readRecordScopes,
  readSchemaVersion,
  readTableShapes,
  type TableShape,
} from "./transfer-store.ts";

export interface MemoryImport {
  readonly rows: number;
  readonly added: number;
  /** Rows that existed and stayed unchanged. */
  readonly kept: number;
  readonly rows_sha256: string;
}

/** Reads an export file twice: first to check all of it, then to write all of it in one transaction. */
export async function importMemory(
  client: DatabaseClient,
  path: string,
  check: CheckRow = () => undefined,
): Promise<MemoryImport> {
  const { header, footer } = await verifyExport(path, check);
  const schemaVersion = await readSchemaVersion(client.db);
  if (header.schema_version > schemaVersion) throw newerExport(header.schema_version, schemaVersion);
  const shapes = await readTableShapes(client.db);
  const added = await client.db
    .transaction()
    .execute(async (tx) => {
      const count = await insertAll(tx, { path, header, shapes });
      await addMissingCounters(tx);
      for (const scope of await readRecordScopes(tx)) await bumpScope(tx, scope);
      return count;
    })
    .catch((error: unknown) => {
      throw conflictError(error);
    });
  if (added > 0) await analyzeTables(client.db);
  return { rows: footer.rows, added, kept: footer.rows - added, rows_sha256: footer.rows_sha256 };
}

/** Checks a row before anything is written; throws to refuse it. */
export type CheckRow = (table: string, row: string) => void;

export async function verifyExport(
  path: string,
  check: CheckRow = () => undefined,
): Promise<{ header: ExportHeader; footer: ExportFooter }> {
  const digest = new ExportDigest();
  let header: ExportHeader | undefined;
  // Handles each line one step late: the last one is the footer and not part of the checksum.
  let held: string | undefined;
  // Thrown last: for a damaged file the state of single rows is irrelevant.
  let refusal: Error | undefined;
  for await (const line of readLines(path)) {
    if (header === undefined) {
      header = parseLine(headerSchema, line, "it does not begin with the header of an export");
      digest.addHeader(line);
      continue;
    }
    if (held !== undefined) {
      digest.addRow(held);
      refusal ??= tryCheck(check, held);
    }
    held = line;
  }
  if (header === undefined || held === undefined) throw invalidExport("it is empty or ends after the header");
  const footer = parseLine(footerSchema, held, "it ends before the footer, so it was cut off");
  const actual = digest.finish();
  if (actual.rows !== footer.rows) throw invalidExport(`it has ${actual.rows} rows, its footer says ${footer.rows}`);
  if (actual.file_sha256 !== footer.file_sha256) throw invalidExport("its checksum does not fit its content");
  if (refusal !== undefined) throw refusal;
  return { header, footer };
}

function tryCheck(check: CheckRow, line: string): Error | undefined {
  try {
    const { table, row } = splitRow(line);
    check(table, row);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Small enough for the parser, large enough to spread the cost of a statement over many rows. */
const CHARACTERS_PER_STATEMENT = 128 * 1024;

interface InsertJob {
  readonly path: string;
  readonly header: ExportHeader;
  readonly shapes: readonly TableShape[];
}

async function insertAll(tx: Tx, { path, header, shapes }: InsertJob): Promise<number> {
  let added = 0;
  let batch: { table: string; rows: string[]; characters: number } = { table: "", rows: [], characters: 0 };
  const flush = async (): Promise<void> => {
    if (batch.rows.length === 0) return;
    const table = shapes.find(({ name }) => name === batch.table);
    const columns = header.tables.find(({ name }) => name === batch.table)?.columns;
    if (table === undefined || columns === undefined)
      throw invalidExport(`it has rows of an unknown table, ${batch.table}`);
    added += await insertRows(tx, { table, columns, rows: batch.rows });
  };
  let first = true;
  for await (const line of readLines(path)) {
    if (first || line.startsWith("{")) {
      first = false; // header and footer are objects, rows are arrays
      continue;
    }
    const { table, row } = splitRow(line);
    if (table !== batch.table || batch.characters >= CHARACTERS_PER_STATEMENT) {
      await flush();
      batch = { table, rows: [], characters: 0 };
    }
    batch.rows.push(row);
    batch.characters += row.length;
  }
  await flush();
  return added;
}

function readLines(path: string): AsyncGenerator<string> {
  return splitLines(createReadStream(path, "utf8"));
}

function parseLine<T>(schema: z.ZodType<T>, line: string, otherwise: string): T {
  try {
    return schema.parse(JSON.parse(line));
  } catch (cause) {
    throw invalidExport(otherwise, cause);
  }
}

function newerExport(theirs: number, ours: number): PmlError {
  return new PmlError(
    "export_invalid",
    `The export has schema version ${theirs}, this PML knows ${ours}. Nothing was imported`,
    {
      hint: "Update PML here to the version that made the export: npm install pml@latest",
    },
  );
}

const UNIQUE_VIOLATION = "23505";
const FOREIGN_KEY_VIOLATION = "23503";

function conflictError(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (error.code !== UNIQUE_VIOLATION && error.code !== FOREIGN_KEY_VIOLATION) return error;
  const detail = "detail" in error && typeof error.detail === "string" ? error.detail : error.message;
  return new PmlError(
    "import_conflict",
    `The import contradicts what is already stored: ${detail} Nothing was imported`,
    {
      hint: "Import into an empty PML_HOME, or rename one of the two first",
      cause: error,
    },
  );
}
