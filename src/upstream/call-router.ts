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
  /** The connection where there is one already, as there is for most calls. */
  readonly connected: () => LiveConnection | undefined;
  readonly openExtra: () => Promise<LiveConnection>;
  /** What a failed call is told to have failed of. */
  readonly explain: (error: unknown, connection: LiveConnection) => unknown;
}

/** A second process of a server would know nothing of the first one's state; another session of a remote one is usual. */
const EXTRA_CONNECTIONS = { process: 0, remote: 4 };

/** Brings each call of one server onto a connection where it cannot be taken for another one. */
export class CallRouter implements AsyncDisposable {
  /** What has asked something in the middle of a call. */
  readonly askers = new Set<string>();
  readonly #options: CallRouterOptions;
  readonly #gate: Gate;
  /** However many calls that ask wait for a person, the others have places of their own. */
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

  /** Closes the further connections; they are opened again when they are needed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#extras[Symbol.asyncDispose]();
  }
}
