/**
 * Decides whether the forms of one connection count as answers of a person. Only a connection of an authenticated shim
 * has one of these: a client over HTTP could be any program with the token.
 */
export class ConnectionForms {
  readonly #allowed: () => readonly string[];
  #client: string | undefined;

  /** `allowed`: names of the clients that a person allowed, as they are configured now. */
  constructor(allowed: () => readonly string[]) {
    this.#allowed = allowed;
  }

  /** A connection keeps the first name it gave: one that takes another is not the client that a person allowed. */
  count(client: string | undefined): boolean {
    this.#client ??= client;
    return client !== undefined && client === this.#client && this.#allowed().includes(client);
  }
}
