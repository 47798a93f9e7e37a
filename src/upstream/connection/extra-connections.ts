import type { Logger } from "../../base/log.ts";
import type { LiveConnection } from "./live-connection.ts";

export interface ExtraConnectionsOptions {
  readonly server: string;
  /** Maximum number of connections. */
  readonly most: number;
  readonly open: () => Promise<LiveConnection>;
  readonly log: Logger;
}

export interface Extra extends Disposable {
  /** Resolves to undefined if the server accepts no further connection. */
  connect(): Promise<LiveConnection | undefined>;
}

interface Slot {
  taken: boolean;
  connection: Promise<LiveConnection | undefined> | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

const IDLE_MS = 30_000;

/**
 * Connections for calls that ask, to a server of the 2025 era: questions of two such calls on one connection are
 * ambiguous, and an unanswered one would block the others.
 */
export class ExtraConnections implements AsyncDisposable {
  readonly #options: ExtraConnectionsOptions;
  readonly #slots: readonly Slot[];

  constructor(options: ExtraConnectionsOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.most }, () => ({
      taken: false,
      connection: undefined,
      idleTimer: undefined,
    }));
  }

  /** Takes a connection, preferably an open one; undefined if all are taken or none is allowed. */
  take(): Extra | undefined {
    const free = this.#slots.filter(({ taken }) => !taken);
    const slot = free.find(({ connection }) => connection !== undefined) ?? free[0];
    if (slot === undefined) return undefined;
    slot.taken = true;
    clearTimeout(slot.idleTimer);
    return {
      connect: () => this.#connect(slot),
      [Symbol.dispose]: () => {
        slot.taken = false;
        slot.idleTimer = setTimeout(() => void close(slot), IDLE_MS).unref();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#slots.map(close));
  }

  async #connect(slot: Slot): Promise<LiveConnection | undefined> {
    const known = await slot.connection;
    if (known !== undefined && known.lost === undefined) return known;
    const { server, open, log } = this.#options;
    slot.connection = open().catch((error: unknown) => {
      log.info({ server, error: String(error) }, "there is no further connection to the server");
      return undefined;
    });
    return slot.connection;
  }
}

async function close(slot: Slot): Promise<void> {
  clearTimeout(slot.idleTimer);
  const { connection } = slot;
  slot.connection = undefined;
  await (await connection)?.[Symbol.asyncDispose]();
}
