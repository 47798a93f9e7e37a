import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ProtocolError, type Transport } from "@modelcontextprotocol/client";
import { CallRouter } from "./call-router.ts";
import { isModern, listenForChanges } from "./connection/current-protocol.ts";
import { EraMemory } from "./connection/era-verdict.ts";
import {
  CallTimeout,
  Cancelled,
  describeStartFailure,
  isUnreachable,
  ServerUnavailable,
  SessionGone,
  type StartFailure,
} from "./failures.ts";
import { type ConnectionOptions, LiveConnection, type UpstreamRequest } from "./connection/live-connection.ts";
import { findMissingScope } from "./oauth/server-auth.ts";
import { ChangeBudget } from "./offers/change-budget.ts";
import { OfferReader } from "./offers/read-offer.ts";
import { ResourceWatches } from "./resource-watches.ts";
import { RetryPlan } from "./connection/retry-plan.ts";
import { ServerCondition } from "./server-condition.ts";
import type { ServerStatus } from "./server-status.ts";
import { asProcess, type StdioProcess } from "./connection/stdio-process.ts";
import type { UpstreamOptions } from "./upstream-options.ts";

/** Callers wait for a retry that is due within this time; otherwise they fail at once. */
const SHORT_WAIT_MS = 1_000;

/** One configured server: connects on demand, restarts after a crash. */
export class UpstreamServer implements AsyncDisposable {
  readonly name: string;
  readonly #options: UpstreamOptions;
  readonly #calls: CallRouter;
  readonly #retry = new RetryPlan();
  readonly #watches: ResourceWatches;
  readonly #era: EraMemory;
  /** One reader per connection. */
  readonly #readers = new WeakMap<Client, OfferReader>();
  readonly #changes = new ChangeBudget();
  #connection: LiveConnection | undefined;
  #connecting: Promise<LiveConnection> | undefined;
  /** Transports of pending connections, so that they can be closed without waiting. */
  readonly #opening = new Set<Transport>();
  readonly #openingExtras = new Set<ReadonlySet<Transport>>();
  readonly #condition: ServerCondition;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(options: UpstreamOptions) {
    const { name, entry, limits, log, onNotification } = options;
    this.name = name;
    this.#options = options;
    this.#condition = new ServerCondition(name, log);
    this.#era = new EraMemory(options.era);
    this.#calls = new CallRouter({
      name,
      entry,
      limits,
      log,
      connect: () => this.connect(),
      connected: () => this.#connection,
      openExtra: () => this.#openExtra(),
      explain: (error, connection) => this.#explain(error, connection),
    });
    this.#watches = new ResourceWatches((uri) => onNotification("notifications/resources/updated", { uri }));
  }

  get status(): ServerStatus {
    const { state, since, startMs, lastError } = this.#condition;
    const process = this.#connection?.process ?? this.#startingProcess();
    const pid = process?.pid;
    const protocol = this.#connection?.client.getNegotiatedProtocolVersion();
    return {
      name: this.name,
      state,
      since: since.toISOString(),
      inFlight: this.#calls.inFlight,
      failures: this.#retry.failures,
      restarts: this.#retry.restarts,
      stderr: this.#condition.lastWords(process),
      ...(pid === undefined ? {} : { pid }),
      ...(protocol === undefined ? {} : { protocol }),
      ...(startMs === undefined ? {} : { startMs }),
      ...(lastError === undefined ? {} : { lastError }),
    };
  }

  /** Connects unless connected. Throws ServerUnavailable, immediately while a retry is pending. */
  async connect(): Promise<LiveConnection> {
    if (this.#connection !== undefined) return this.#connection;
    if (this.#condition.state === "stopped")
      throw new ServerUnavailable(`Server ${this.name} was removed from the configuration`);
    if (this.#connecting === undefined) {
      const wait = this.#retry.remainingMs();
      if (wait > SHORT_WAIT_MS) throw this.#condition.unavailable(`next try in ${Math.ceil(wait / 1000)} s`);
      this.#connecting = sleep(wait)
        .then(() => this.#open())
        .finally(() => (this.#connecting = undefined));
    }
    return this.#connecting;
  }

  async request(request: UpstreamRequest): Promise<Record<string, unknown>> {
    try {
      return await this.#calls.send(request).catch((error: unknown) => {
        if (error instanceof SessionGone) return this.#calls.send(request);
        throw error;
      });
    } catch (error) {
      if (request.signal?.aborted === true) throw new Cancelled(this.name, request.method);
      throw error;
    }
  }

  #explain(error: unknown, connection: LiveConnection): unknown {
    if (error instanceof ProtocolError || error instanceof SessionGone || error instanceof CallTimeout) return error;
    const refusal = this.#options.auth?.explain(error);
    // Without a login the connection is useless; a login of too little scope serves other calls.
    if (refusal?.code === "login_needed" && findMissingScope(error) === undefined) connection.giveUp(refusal.message);
    if (refusal !== undefined) return refusal;
    if (connection.lost === undefined) return error;
    return this.#condition.unavailable("it ended during this call, whose outcome is not known", connection.lost);
  }

  /** Resets state that was found with the previous login. */
  async loginChanged(): Promise<void> {
    await this.#connecting?.catch(() => undefined); // it began with the previous login
    clearTimeout(this.#retryTimer);
    const connection = this.#connection;
    this.#connection = undefined;
    this.#era.forget();
    this.#retry.forget();
    this.#condition.enter("idle");
    await connection?.[Symbol.asyncDispose]();
    await this.#calls[Symbol.asyncDispose]();
  }

  /** Subscribes to a resource until the result is disposed of. */
  async watch(uri: string): Promise<AsyncDisposable> {
    return this.#watches.add(uri, (await this.connect()).client);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#condition.enter("stopped");
    clearTimeout(this.#retryTimer);
    const opening = [this.#opening, ...this.#openingExtras].flatMap((transports) => [...transports]);
    await Promise.all(opening.map((transport) => transport.close()));
    await this.#connecting?.catch(() => undefined); // its callers got the error
    await this.#connection?.[Symbol.asyncDispose]();
    await this.#calls[Symbol.asyncDispose]();
  }

  async #open(): Promise<LiveConnection> {
    if (this.#condition.state === "stopped") throw this.#condition.unavailable();
    this.#condition.enter("connecting");
    const heard: { noise?: string } = {};
    try {
      const connection = await LiveConnection.open({
        ...this.#connectionOptions(this.#opening),
        era: this.#era.next(),
        onNoise: (line) => void (heard.noise = line),
      });
      await this.#takeOver(connection);
      return connection;
    } catch (error) {
      const process = this.#startingProcess();
      await Promise.all([...this.#opening].map((transport) => transport.close()));
      this.#condition.keepWords(process);
      throw this.#startFailed({ error, exit: process?.exit, noise: heard.noise });
    } finally {
      this.#opening.clear();
    }
  }

  #startFailed(failure: Omit<StartFailure, "limitMs">): Error {
    const { auth, output, limits } = this.#options;
    const refusal = auth?.explain(failure.error);
    if (refusal?.code === "login_needed") {
      this.#condition.lastError = refusal.message;
      this.#condition.enter("login_needed"); // until the next call or login
      return refusal;
    }
    // A server that is unreachable or wants a login did not fail because of the era.
    if (refusal === undefined && !isUnreachable(failure.error)) this.#era.failed();
    const reason = refusal?.message ?? describeStartFailure({ ...failure, limitMs: limits.connectMs });
    this.#condition.lastError = output?.clean(reason) ?? reason;
    return this.#retryIn(this.#retry.failed());
  }

  async #openExtra(): Promise<LiveConnection> {
    const opening = new Set<Transport>();
    this.#openingExtras.add(opening);
    const options = this.#connectionOptions(opening);
    return LiveConnection.open({ ...options, era: { kind: "legacy" }, onNoise: () => undefined }).finally(
      () => void this.#openingExtras.delete(opening),
    );
  }

  #connectionOptions(opening: Set<Transport>): Omit<ConnectionOptions, "era" | "onNoise"> {
    const { name, entry, limits, groups, output, log, auth, onNotification } = this.#options;
    return {
      name,
      entry,
      limits,
      groups,
      output,
      log,
      auth,
      askers: this.#calls.askers,
      onTry: (transport) => {
        // A start may take several attempts; none may begin after the stop.
        if (this.#condition.state === "stopped") throw this.#condition.unavailable();
        opening.add(transport);
      },
      onNotification: async (client, method, params) => {
        if (method.endsWith("/list_changed")) await this.#refresh(client);
        else onNotification(method, params);
      },
      onLost: (connection, reason) => this.#lost(connection, reason),
    };
  }

  async #takeOver(connection: LiveConnection): Promise<void> {
    const { client } = connection;
    if (isModern(client)) {
      this.#calls.askers.clear();
      await listenForChanges(client, () => void this.#refresh(client));
    }
    await this.#watches.restore(client);
    await this.#options.onOffer(await this.#readerOf(client).read());
    if (connection.lost !== undefined) throw new Error(connection.lost);
    const verdict = this.#era.succeeded(client);
    if (verdict !== undefined) this.#options.onEra?.(verdict);
    this.#connection = connection;
    this.#retry.succeeded();
    this.#condition.enter("ready");
  }

  #readerOf(client: Client): OfferReader {
    const { limits, log } = this.#options;
    const reader =
      this.#readers.get(client) ??
      new OfferReader(client, {
        timeoutMs: limits.connectMs,
        budget: this.#changes,
        onDelay: (ms) => log.warn({ server: this.name, ms }, "the server changes too often, its lists are read later"),
      });
    this.#readers.set(client, reader);
    return reader;
  }

  async #refresh(client: Client): Promise<void> {
    try {
      await this.#readerOf(client).follow((offer) => this.#options.onOffer(offer));
    } catch (error) {
      this.#options.log.warn({ server: this.name, error: String(error) }, "the server's lists could not be read again");
    }
  }

  /** Restarts the server after a connection that PML did not end: it may hold work in progress. */
  #lost(connection: LiveConnection, reason: string): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#condition.keepWords(connection.process);
    if (this.#condition.state === "stopped") return;
    this.#condition.lastError = reason;
    this.#retryIn(this.#retry.crashed());
  }

  #retryIn(wait: number): ServerUnavailable {
    if (this.#condition.state !== "stopped") {
      this.#condition.enter("backoff");
      clearTimeout(this.#retryTimer);
      if (!this.#retry.exhausted)
        this.#retryTimer = setTimeout(() => void this.connect().catch(() => undefined), wait).unref();
    }
    return this.#condition.unavailable();
  }

  #startingProcess(): StdioProcess | undefined {
    return [...this.#opening].map(asProcess).findLast((process) => process !== undefined);
  }
}
