import type { Kysely, Transaction } from "kysely";
import type { Tables } from "./tables.ts";

/** Tables by name, with typed columns. Stores take this, or a transaction of it. */
export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

export interface ListenHandlers {
  readonly onNotification: (payload: string) => void;
  /** Called once listening has begun and after every gap, since notices may have been missed. */
  readonly onReconnect: () => void;
}

export interface Listening {
  close(): Promise<void>;
}

/** An open database. The embedded engine and a PostgreSQL server both speak the wire protocol to it. */
export interface DatabaseClient extends AsyncDisposable {
  readonly engine: "pglite" | "postgres";
  readonly db: Db;
  /** Statements as plain text, several at once when there are no values: for job queue and migrations. */
  execute(text: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /** One statement that is planned once per connection: for large ones that run often. Equal names, equal texts. */
  executePrepared(name: string, text: string, values: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /**
   * Has the listener called before anything is asked, so that what it asks for comes first: for work that may wait
   * until somebody could miss it. Only where all questions are answered one after the other.
   */
  beforeUse?(listener: () => void): void;
  listen(channel: string, handlers: ListenHandlers): Promise<Listening>;
  /** Resolves with the reason when the engine has died under us. Nothing can be asked of it after that. */
  readonly lost: Promise<Error>;
}
