import { createReadStream, createWriteStream, type WriteStream } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { splitLines } from "../base/lines.ts";

/** Tables that an import writes, parents first. */
export const IMPORTED_TABLES = [
  "capability_records",
  "capability_versions",
  "capability_aliases",
  "capability_rename_history",
  "capability_dependency",
  "execution_run",
  "run_journal",
  "execution_trace",
  "task_results",
] as const;
export type ImportedTable = (typeof IMPORTED_TABLES)[number];

export type PreparedRow = Readonly<Record<string, unknown>>;

/**
 * Rows that are ready to be inserted, in a file per table: an export is larger than memory, and analysing its programs
 * must not hold a transaction.
 */
export class PreparedRows {
  readonly #folder: string;
  readonly #files = new Map<ImportedTable, WriteStream>();
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * @param owner id of the record that the row belongs to; empty for the rows of runs
   */
  async add(table: ImportedTable, owner: string, row: PreparedRow): Promise<void> {
    this.#count += 1;
    let file = this.#files.get(table);
    if (file === undefined) {
      file = createWriteStream(this.#path(table), { mode: 0o600 });
      this.#files.set(table, file);
    }
    if (!file.write(`${owner} ${JSON.stringify(row)}\n`)) await once(file, "drain");
  }

  async finish(): Promise<void> {
    for (const file of this.#files.values()) {
      file.end();
      await finished(file);
    }
  }

  async *read(table: ImportedTable): AsyncGenerator<{ readonly owner: string; readonly row: string }> {
    if (!this.#files.has(table)) return;
    for await (const line of splitLines(createReadStream(this.#path(table), "utf8"))) {
      const space = line.indexOf(" ");
      yield { owner: line.slice(0, space), row: line.slice(space + 1) };
    }
  }

  #path(table: ImportedTable): string {
    return join(this.#folder, `${table}.ndjson`);
  }
}
