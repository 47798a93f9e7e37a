import type { McpServerEntry } from "../config/schema.ts";
import type { Logger } from "../base/log.ts";
import { ExtraConnections } from "./connection/extra-connections.ts";
import { Gate } from "./gate.ts";
import { type LiveConnection, subjectOf, type UpstreamRequest } from "./connection/live-connection.ts";
import { unlessAborted } from "./connection/unless-aborted.ts";
import type { UpstreamLimits } from "./upstream-limits.ts";

export interface CallRouterOptions {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly limits: UpstreamLimits;
  readonly log: Logger;
  readonly connect: () => Promise<LiveConnection>;
  /** Returns the open connection, which most calls find. */
  readonly connected: () => LiveConnection | undefined;
  readonly openExtra: () => Promise<LiveConnection>;
  /** Maps an error of the connection to the error the caller sees. */
  readonly explain: (error: unknown, connection: LiveConnection) => unknown;
}

/** Extra connections are for remote servers: a second process would not share the first one's state. */
const EXTRA_CONNECTIONS = { process: 0, remote: 4 };

/** Routes each call of a server to a connection where its questions are unambiguous. */
export class CallRouter implements AsyncDisposable {
  /** Subjects that have asked during a call. */
  readonly askers = new Set<string>();
  readonly #options: CallRouterOptions;
  readonly #gate: Gate;
  /** Separate from `#gate`: calls that wait for a person must not take the places of others. */
  readonly #askGate: Gate;
  readonly #extras: ExtraConnections;

  constructor(options: CallRouterOptions) {
    const { name, entry, limits, log, openExtra } = options;
    this.#options = options;
    this.#gate = new Gate(limits.inFlight, limits.queued);
    this.#askGate = new Gate(limits.inFlight, limits.queued);
    const usual = entry.command === undefined ? EXTRA_CONNECTIONS.remote : EXTRA_CONNECTIONS.process;
    const most = entry.pml?.extraConnections ?? usual;
    this.#extras = new ExtraConnections({ server: name, most, open: openExtra, log });
  }

  get inFlight(): number {
    return this.#gate.inFlight + this.#askGate.inFlight;
  }

  async send(request: UpstreamRequest): Promise<Record<string, unknown>> {
    const { signal } = request;
    const asks = this.askers.has(subjectOf(request));
    using _place = await (asks ? this.#askGate : this.#gate).enter(signal);
    const main = this.#options.connected() ?? (await unlessAborted(this.#options.connect(), signal));
    using extra = asks && main.taken ? this.#extras.take() : undefined;
    const connection = extra === undefined ? main : ((await extra.connect()) ?? main);
    try {
      return await connection.call(request, asks ? "alone" : "shared");
    } catch (error) {
      throw this.#options.explain(error, connection);
    }
  }

  /** Closes the extra connections; calls reopen them on demand. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#extras[Symbol.asyncDispose]();
  }
}
