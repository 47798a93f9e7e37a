import type { DatabaseClient, Tx } from "../db/client.ts";
import { ExportDigest, type ExportFooter, type ExportHeader, FORMAT_VERSION, formatRow } from "./export-format.ts";
import type { Scope } from "../registry/scope.ts";
import {
  beginSnapshot,
  countRows,
  readRows,
  readSchemaVersion,
  readTableShapes,
  type TableShape,
} from "./transfer-store.ts";

/** Takes some lines at a time; resolves when it can take more. */
export type LineSink = (lines: string) => Promise<void>;

/** Writes everything learned in the scope, as of one snapshot, and returns the footer. */
export async function exportMemory(client: DatabaseClient, scope: Scope, write: LineSink): Promise<ExportFooter> {
  const shapes = await readTableShapes(client.db);
  const schemaVersion = await readSchemaVersion(client.db);
  return client.db.transaction().execute(async (tx) => {
    await beginSnapshot(tx);
    const digest = new ExportDigest();
    const header: ExportHeader = {
      pml_export: FORMAT_VERSION,
      schema_version: schemaVersion,
      engine: client.engine,
      created_at: new Date().toISOString(),
      tables: await describeTables(tx, shapes, scope),
    };
    const headerLine = JSON.stringify(header);
    digest.addHeader(headerLine);
    await write(`${headerLine}\n`);
    for (const shape of shapes) await exportTable(tx, shape, { scope, digest, write });
    const footer = digest.finish();
    await write(`${JSON.stringify(footer)}\n`);
    return footer;
  });
}

async function describeTables(tx: Tx, shapes: readonly TableShape[], scope: Scope): Promise<ExportHeader["tables"]> {
  const tables: ExportHeader["tables"] = [];
  for (const { name, columns } of shapes)
    tables.push({ name, rows: await countRows(tx, name, scope), columns: [...columns] });
  return tables;
}

async function exportTable(
  tx: Tx,
  shape: TableShape,
  { scope, digest, write }: { scope: Scope; digest: ExportDigest; write: LineSink },
): Promise<void> {
  for await (const rows of readRows(tx, shape, scope)) {
    const lines = rows.map((row) => formatRow(shape.name, row));
    for (const line of lines) digest.addRow(line);
    await write(`${lines.join("\n")}\n`);
  }
}
