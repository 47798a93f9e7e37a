/** Formats `name  value` lines: aligned on a terminal, tab-separated in a pipe. */
export function formatPairs(pairs: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(pairs).map((name) => name.length));
  const separate = (name: string): string => (process.stdout.isTTY ? `${name.padEnd(width)}  ` : `${name}\t`);
  return Object.entries(pairs)
    .map(([name, value]) => `${separate(name)}${value}`)
    .join("\n");
}

/** Formats rows: aligned under a header on a terminal, tab-separated in a pipe. */
export function formatTable(rows: readonly Readonly<Record<string, string>>[]): string {
  const columns = Object.keys(rows[0] ?? {});
  if (!process.stdout.isTTY) return rows.map((row) => columns.map((column) => row[column] ?? "").join("\t")).join("\n");
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
