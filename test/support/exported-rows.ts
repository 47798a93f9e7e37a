import { runPml } from "./pml.ts";

type ExportedRow = Readonly<Record<string, unknown>>;

/** Reads the rows of a table as a user can: from an export. */
export async function exportedRows(home: string, table: string): Promise<ExportedRow[]> {
  const { stdout, stderr, code } = await runPml(["export"], { home });
  if (code !== 0) throw new Error(`pml export exited ${code}: ${stderr}`);
  return stdout
    .split("\n")
    .filter((line) => line.startsWith(`["${table}"`))
    .map((line) => (JSON.parse(line) as [string, ExportedRow])[1]);
}
