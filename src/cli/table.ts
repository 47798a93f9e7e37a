/** Formats `name  value` lines: aligned on a terminal, tab-separated in a pipe. */
export function formatPairs(pairs: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(pairs).map((name) => name.length));
  const separate = (name: string): string => (process.stdout.isTTY ? `${name.padEnd(width)}  ` : `${name}\t`);
  return Object.entries(pairs)
    .map(([name, value]) => `${separate(name)}${value}`)
    .join("\n");
}

/** A text of others in a cell must not look like another cell or row. */
const toCell = (text: string): string => text.replaceAll(/[\t\n\r]+/g, " ");

export function formatLine(row: Readonly<Record<string, string>>): string {
  return Object.values(row).map(toCell).join("\t");
}

/** Formats rows: aligned under a header on a terminal, tab-separated in a pipe. */
export function formatTable(given: readonly Readonly<Record<string, string>>[]): string {
  const columns = Object.keys(given[0] ?? {});
  const rows = given.map((row) => Object.fromEntries(columns.map((column) => [column, toCell(row[column] ?? "")])));
  if (!process.stdout.isTTY) return rows.map(formatLine).join("\n");
  const header = Object.fromEntries(columns.map((column) => [column, column.toUpperCase()]));
  const lines = [header, ...rows];
  const width = (column: string): number => Math.max(...lines.map((row) => (row[column] ?? "").length));
  return lines
    .map((row) =>
      columns
        .map((column) => (row[column] ?? "").padEnd(width(column)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
