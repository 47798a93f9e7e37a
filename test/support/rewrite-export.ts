import { readFileSync, writeFileSync } from "node:fs";
import { ExportDigest } from "../../src/housekeeping/export-format.ts";

type EditedRow = Record<string, unknown>;

/** Changes rows of an export and recomputes all checksums, as an attacker who knows the format would. */
export function rewriteExport(
  from: string,
  to: string,
  edit: (table: string, row: EditedRow) => EditedRow | undefined,
): void {
  const [header = "", ...lines] = readFileSync(from, "utf8").trimEnd().split("\n");
  const rows = lines.slice(0, -1).flatMap((line) => {
    const [table, row] = JSON.parse(line) as [string, EditedRow];
    const edited = edit(table, row);
    return edited === undefined ? [] : [JSON.stringify([table, edited])];
  });
  const digest = new ExportDigest();
  digest.addHeader(header);
  for (const row of rows) digest.addRow(row);
  writeFileSync(to, `${[header, ...rows, JSON.stringify(digest.finish())].join("\n")}\n`);
}
