import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./tables.ts";

/** The typed tables. Stores take this, or a transaction of it. */
export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

export interface ListenHandlers {
  readonly onNotification: (payload: string) => void;
  /** Called once listening has begun and after every gap, because notifications may have been missed. */
  readonly onReconnect: () => void;
}

export interface ListenHandle {
  close(): Promise<void>;
}

/** An open database. The `pg` driver speaks the wire protocol to the embedded engine and to a server alike. */
export interface DatabaseClient extends AsyncDisposable {
  readonly engine: "pglite" | "postgres";
  readonly db: Db;
  /** Runs plain text, several statements at once if there are no values: for job queue and migrations. */
  execute(text: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /** Runs a statement that is planned once per connection: for large, frequent ones. Equal names need equal texts. */
  executePrepared(name: string, text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /**
   * Calls the listener before each query, so that a query it sends comes first: for write-behind work that must be
   * visible to the next reader. Only on an engine that runs all queries in sequence.
   */
  beforeUse?(listener: () => void): void;
  listen(channel: string, handlers: ListenHandlers): Promise<ListenHandle>;
  /** Resolves with the reason when the engine has died. All later queries fail. */
  readonly lost: Promise<Error>;
}
