import type { RecordName } from "./sample-data.ts";

/** The compared engines; also the headings of their columns. */
export const PML_PGLITE = "PML, PGlite";
export const PML_POSTGRES = "PML, PostgreSQL";
export const BARE_PG = "bare pg driver";
export const BARE_PGLITE = "bare PGlite*";
export const COLUMNS = [PML_PGLITE, PML_POSTGRES, BARE_PG, BARE_PGLITE] as const;
export type Column = (typeof COLUMNS)[number];

export interface Transferred {
  readonly rows: number;
  /** Checksum of the rows; a bare driver computes none. */
  readonly digest?: string;
}

/** The same operations for every compared engine. */
export interface BenchEngine extends AsyncDisposable {
  script(statements: string): Promise<unknown>;
  lookup(name: RecordName): Promise<unknown>;
  insertUsage(id: string): Promise<unknown>;
  insertJournal(rows: string): Promise<unknown>;
  exportTo(path: string): Promise<Transferred>;
  importFrom(path: string): Promise<Transferred>;
}

/** Requests to the process of an engine. */
export type EngineRequest =
  | { readonly kind: "script"; readonly statements: string }
  | { readonly kind: "lookup" | "insert" | "batch"; readonly count: number }
  | { readonly kind: "export" | "import"; readonly path: string }
  | { readonly kind: "close" };

export type EngineAnswer = { readonly ok: unknown } | { readonly error: string };

/** A transfer, measured inside the process of the database. */
export interface TimedTransfer extends Transferred {
  readonly seconds: number;
  /** The longest time during which that process could not answer. */
  readonly longestGapMs: number;
  /** The longest uninterrupted computation; a longer gap is due to other processes. */
  readonly longestBusyMs: number;
}
