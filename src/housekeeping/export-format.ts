import { createHash, type Hash } from "node:crypto";
import { z } from "zod";
import { PmlError } from "../base/errors.ts";

/**
 * An export is NDJSON: a header, one line per row, a footer. The footer has two checksums: of the rows alone, which is
 * equal for equal memory on any engine, and of the whole file.
 */
export const FORMAT_VERSION = 1;

export const headerSchema = z.object({
  pml_export: z.literal(FORMAT_VERSION),
  schema_version: z.number().int().positive(),
  engine: z.string(),
  created_at: z.string(),
  tables: z.array(z.object({ name: z.string(), rows: z.number().int().nonnegative(), columns: z.array(z.string()) })),
});
export type ExportHeader = z.infer<typeof headerSchema>;

export const footerSchema = z.object({
  pml_export_end: z.literal(FORMAT_VERSION),
  rows: z.number().int().nonnegative(),
  rows_sha256: z.string(),
  file_sha256: z.string(),
});
export type ExportFooter = z.infer<typeof footerSchema>;

/** Computes the checksums line by line, for writer and reader alike. */
export class ExportDigest {
  readonly #rows: Hash = createHash("sha256");
  readonly #file: Hash = createHash("sha256");
  #count = 0;

  addHeader(line: string): void {
    this.#file.update(line).update("\n");
  }

  addRow(line: string): void {
    this.#rows.update(line).update("\n");
    this.#file.update(line).update("\n");
    this.#count += 1;
  }

  finish(): ExportFooter {
    return {
      pml_export_end: FORMAT_VERSION,
      rows: this.#count,
      rows_sha256: this.#rows.digest("hex"),
      file_sha256: this.#file.digest("hex"),
    };
  }
}

/** Starts a row line with its table, so that a reader can group lines without parsing them. */
export function formatRow(table: string, row: string): string {
  return `["${table}",${row}]`;
}

const ROW_LINE = /^\["([a-z_]+)",(\{.*\})\]$/s;

export function splitRow(line: string): { table: string; row: string } {
  const [, table, row] = ROW_LINE.exec(line) ?? [];
  if (table === undefined || row === undefined) throw invalidExport("a line is not a row of an export");
  return { table, row };
}

export function invalidExport(reason: string, cause?: unknown): PmlError {
  return new PmlError(
    "export_invalid",
    `This is not a complete, unaltered PML export: ${reason}. Nothing was imported`,
    {
      hint: "Export it again at its source (pml export -o memory.pml) and copy the file unchanged",
      cause,
    },
  );
}
