import type { RecordName } from "./sample-data.ts";

/** The things compared; the heading of their column in the table. */
export const PML_PGLITE = "PML, PGlite";
export const PML_POSTGRES = "PML, PostgreSQL";
export const BARE_PG = "bare pg driver";
export const BARE_PGLITE = "bare PGlite*";
export const COLUMNS = [PML_PGLITE, PML_POSTGRES, BARE_PG, BARE_PGLITE] as const;
export type Column = (typeof COLUMNS)[number];

export interface Transferred {
  readonly rows: number;
  /** Of the rows alone; a bare driver makes none. */
  readonly digest?: string;
}

/** The same work for everything that is compared. */
export interface Engine extends AsyncDisposable {
  script(statements: string): Promise<unknown>;
  lookup(name: RecordName): Promise<unknown>;
  insertUsage(id: string): Promise<unknown>;
  insertJournal(rows: string): Promise<unknown>;
  exportTo(path: string): Promise<Transferred>;
  importFrom(path: string): Promise<Transferred>;
}

/** What the process that holds an engine is asked to do. */
export type EngineRequest =
  | { readonly kind: "script"; readonly statements: string }
  | { readonly kind: "lookup" | "insert" | "batch"; readonly count: number }
  | { readonly kind: "export" | "import"; readonly path: string }
  | { readonly kind: "close" };

export type EngineAnswer = { readonly ok: unknown } | { readonly error: string };

/** A transfer as seen from inside the process that held the database meanwhile. */
export interface TimedTransfer extends Transferred {
  readonly seconds: number;
  /** The longest time for which that process could not have answered anybody. */
  readonly longestGapMs: number;
  /** The longest it computed without a pause: a gap that is longer is the machine's, busy with others. */
  readonly longestBusyMs: number;
}
