export interface SeenClient {
  readonly name: string;
  /** Whether it came by a shim, or over HTTP. */
  readonly transport: "stdio" | "http";
  readonly seenAt: Date;
}

/** Clients choose their names, so that one could invent any number of them. */
const MOST_KEPT = 200;

/** The clients that made calls since the daemon started, the latest last. */
export class SeenClients {
  readonly #clients = new Map<string, SeenClient>();

  note(name: string | undefined, transport: SeenClient["transport"]): void {
    if (name === undefined) return;
    const key = `${transport} ${name}`;
    this.#clients.delete(key);
    this.#clients.set(key, { name, transport, seenAt: new Date() });
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > MOST_KEPT && oldest !== undefined) this.#clients.delete(oldest);
  }

  list(): readonly SeenClient[] {
    return [...this.#clients.values()];
  }
}
