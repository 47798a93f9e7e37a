import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type Progress, ProtocolError, type Transport } from "@modelcontextprotocol/client";
import { ActiveCalls, type Listener } from "./active-calls.ts";
import { type Connection, connectServer } from "./connect.ts";
import { adaptRequest, type CurrentParams, isModern, listenForChanges } from "./current-protocol.ts";
import {
  CallTimeout,
  Cancelled,
  describeStartFailure,
  type FailedCall,
  isTimeout,
  ServerUnavailable,
  SessionGone,
} from "./failures.ts";
import { Gate } from "./gate.ts";
import { anyResult } from "./passthrough.ts";
import { OfferReader } from "./read-offer.ts";
import { createLossCheck, findLoss, isSessionGone } from "./remote-loss.ts";
import { ResourceWatches } from "./resource-watches.ts";
import { RetryPlan } from "./retry-plan.ts";
import type { ServerState, ServerStatus } from "./server-status.ts";
import { asProcess, type StdioProcess } from "./stdio-process.ts";
import { unlessAborted } from "./unless-aborted.ts";
import type { UpstreamOptions } from "./upstream-options.ts";

export interface UpstreamRequest extends Listener {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly current?: CurrentParams;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** A server that is about to be tried again is worth waiting for; otherwise the caller hears at once. */
const SHORT_WAIT_MS = 1_000;
/** Calls on a connection that was given up may still hear how they ended; then it is not known. */
const LAST_ANSWERS_MS = 1_000;

/** One configured server: connected when it is needed, restarted when it dies, never in anyone's way. */
export class UpstreamServer implements AsyncDisposable {
  readonly name: string;
  readonly #options: UpstreamOptions;
  readonly #gate: Gate;
  readonly #calls: ActiveCalls;
  readonly #retry = new RetryPlan();
  readonly #watches = new ResourceWatches();
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  /** Of a connection that is being made, so that nobody has to wait for it in order to end it. */
  #opening: Transport | undefined;
  /** The question which era it speaks may be what a server stumbles over: after a failure the next try differs. */
  #askEra = true;
  #state: ServerState = "idle";
  #since = new Date();
  #startMs: number | undefined;
  #lastError: string | undefined;
  #stderr: readonly string[] = [];
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(options: UpstreamOptions) {
    this.name = options.name;
    this.#options = options;
    this.#gate = new Gate(options.limits.inFlight, options.limits.queued);
    this.#calls = new ActiveCalls(options.name, this.#gate);
  }

  get status(): ServerStatus {
    const process = this.#connection?.process ?? asProcess(this.#opening);
    const pid = process?.pid;
    const protocol = this.#connection?.client.getNegotiatedProtocolVersion();
    return {
      name: this.name,
      state: this.#state,
      since: this.#since.toISOString(),
      inFlight: this.#gate.inFlight,
      failures: this.#retry.failures,
      restarts: this.#retry.restarts,
      stderr: this.#lastWords(process),
      ...(pid === undefined ? {} : { pid }),
      ...(protocol === undefined ? {} : { protocol }),
      ...(this.#startMs === undefined ? {} : { startMs: this.#startMs }),
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }

  /** Connects if that has not happened yet. Throws ServerUnavailable, at once while a retry is pending. */
  async connect(): Promise<Client> {
    if (this.#connection !== undefined) return this.#connection.client;
    if (this.#state === "stopped")
      throw new ServerUnavailable(`Server ${this.name} was removed from the configuration`);
    if (this.#connecting === undefined) {
      const wait = this.#retry.remainingMs();
      if (wait > SHORT_WAIT_MS) throw this.#unavailable(`next try in ${Math.ceil(wait / 1000)} s`);
      this.#connecting = sleep(wait)
        .then(() => this.#open())
        .finally(() => (this.#connecting = undefined));
    }
    return (await this.#connecting).client;
  }

  async request(request: UpstreamRequest): Promise<Record<string, unknown>> {
    try {
      return await this.#send(request).catch((error: unknown) => {
        if (error instanceof SessionGone) return this.#send(request);
        throw error;
      });
    } catch (error) {
      if (request.signal?.aborted === true) throw new Cancelled(this.name, request.method);
      throw error;
    }
  }

  async #send(request: UpstreamRequest): Promise<Record<string, unknown>> {
    const { method, signal, onProgress, current = {} } = request;
    using _place = await this.#gate.enter(signal);
    const client = await unlessAborted(this.connect(), signal);
    const { params, options } = adaptRequest(client, request.params, current);
    const session = client.transport?.sessionId;
    using call = this.#calls.begin(request);
    const { callMs, longestCallMs } = this.#options.limits;
    try {
      return await client.request({ method, params }, anyResult, {
        timeout: callMs,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: longestCallMs,
        allowInputRequired: true,
        ...options,
        ...(signal === undefined ? {} : { signal }),
        // Asked for even when nobody listens: without it a server sends none, and the call could time out.
        onprogress: (progress) => {
          onProgress?.(progress);
        },
      });
    } catch (error) {
      const loss = findLoss(error, session);
      if (loss !== undefined) this.#giveUp(client, loss);
      if (isSessionGone(error, session)) throw new SessionGone(this.name, error);
      throw this.#explain(error, client, { method, question: call.question, limitMs: callMs });
    }
  }

  /** From then on changes of the resource come as notifications, until the result is disposed of. */
  async watch(uri: string): Promise<AsyncDisposable> {
    return this.#watches.add(uri, await this.connect());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#setState("stopped");
    clearTimeout(this.#retryTimer);
    await this.#opening?.close();
    await this.#connecting?.catch(() => undefined); // its failure was told to whoever waited for it
    await this.#connection?.client.close();
  }

  async #open(): Promise<Connection> {
    if (this.#state === "stopped") throw this.#unavailable(undefined);
    this.#setState("connecting");
    const { entry, limits, groups, log, output } = this.#options;
    const heard: { noise?: string; reader?: OfferReader } = {};
    try {
      const connection = await connectServer({
        entry,
        timeoutMs: limits.connectMs,
        groups,
        output,
        askEra: this.#askEra,
        onNoise: (line) => {
          heard.noise = line;
          log.debug({ server: this.name, line: line.slice(0, 200) }, "not a message");
        },
        prepare: (client, transport) => {
          // A start may take several tries, of which none must begin after the end.
          if (this.#state === "stopped") throw this.#unavailable(undefined);
          this.#opening = transport;
          heard.reader = new OfferReader(client, limits.connectMs);
          this.#prepare(client, heard.reader);
        },
      });
      this.#askEra = isModern(connection.client);
      if (isModern(connection.client)) await listenForChanges(connection.client);
      await this.#watches.restore(connection.client);
      const offer = await (heard.reader ?? new OfferReader(connection.client, limits.connectMs)).read();
      this.#connection = connection;
      connection.client.onclose = () => this.#lost(connection);
      this.#retry.succeeded();
      this.#setState("ready");
      this.#options.onOffer(offer);
      return connection;
    } catch (error) {
      this.#askEra = !this.#askEra;
      const exit = asProcess(this.#opening)?.exit;
      await this.#opening?.close();
      this.#keepStderr(this.#opening);
      const { noise } = heard;
      const reason = describeStartFailure({ error, exit, noise, limitMs: limits.connectMs });
      this.#lastError = output?.clean(reason) ?? reason;
      throw this.#retryIn(this.#retry.failed());
    } finally {
      this.#opening = undefined;
    }
  }

  #prepare(client: Client, reader: OfferReader): void {
    const { onNotification, log } = this.#options;
    client.setRequestHandler("elicitation/create", (request) => this.#calls.ask(request) as never);
    client.setRequestHandler("sampling/createMessage", (request) => this.#calls.ask(request) as never);
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method.endsWith("/list_changed")) await this.#refresh(reader);
      else if (method === "notifications/message") this.#calls.log(params ?? {});
      else onNotification(method, params);
    };
    const checkLoss = createLossCheck(client, (reason) => this.#giveUp(client, reason));
    client.onerror = (error) => {
      log.debug({ server: this.name, error: error.message }, "upstream");
      if (asProcess(client.transport) === undefined) checkLoss(error);
    };
  }

  async #refresh(reader: OfferReader): Promise<void> {
    try {
      const offer = await reader.readChanged();
      if (offer !== undefined) this.#options.onOffer(offer);
    } catch (error) {
      this.#options.log.warn({ server: this.name, error: String(error) }, "the server's lists could not be read again");
    }
  }

  /** The connection ended and PML did not end it: the server is started again, since it may hold work in progress. */
  #lost(connection: Connection, reason = connection.process?.exit ?? "the connection was closed"): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#keepStderr(connection.process);
    if (this.#state === "stopped") return;
    this.#lastError = reason;
    this.#retryIn(this.#retry.crashed());
  }

  #giveUp(client: Client, reason: string): void {
    if (this.#connection?.client !== client) return;
    this.#lost(this.#connection, reason);
    const close = (): void => void client.close().catch(() => undefined); // nobody is at the other end
    setTimeout(close, LAST_ANSWERS_MS).unref();
  }

  #retryIn(wait: number): ServerUnavailable {
    if (this.#state !== "stopped") {
      this.#setState("backoff");
      clearTimeout(this.#retryTimer);
      if (!this.#retry.exhausted)
        this.#retryTimer = setTimeout(() => void this.connect().catch(() => undefined), wait).unref();
    }
    return this.#unavailable(undefined);
  }

  #unavailable(next: string | undefined): ServerUnavailable {
    const last = this.#stderr.at(-1);
    const parts = [
      `Server ${this.name} is not available: ${this.#lastError ?? "it is not connected"}`,
      ...(last === undefined ? [] : [`its last words: ${last.slice(0, 300)}`]),
      ...(next === undefined ? [] : [next]),
    ];
    return new ServerUnavailable(parts.join("; "));
  }

  /** `client` is the connection that the call was made on; by now there may be another. */
  #explain(error: unknown, client: Client, call: FailedCall): unknown {
    if (error instanceof ProtocolError) return error;
    if (this.#connection?.client !== client)
      return this.#unavailable("it ended during this call, whose outcome is not known");
    return isTimeout(error) ? new CallTimeout(this.name, call) : error;
  }

  /** What the server said, or, while a new process has said nothing yet, what the one before it did. */
  #lastWords(process: StdioProcess | undefined): readonly string[] {
    const tail = process?.stderrTail ?? [];
    return tail.length > 0 ? tail : this.#stderr;
  }

  #keepStderr(transport: Transport | undefined): void {
    this.#stderr = [...(asProcess(transport)?.stderrTail ?? [])];
  }

  #setState(state: ServerState): void {
    if (this.#state === "stopped") return; // whatever was under way then changes nothing any more
    const now = new Date();
    if (state === "ready") this.#startMs = now.getTime() - this.#since.getTime();
    this.#state = state;
    this.#since = now;
    const { log } = this.#options;
    if (state === "ready") log.info({ server: this.name, ms: this.#startMs }, "server connected");
    else if (state === "backoff") log.warn({ server: this.name, error: this.#lastError }, "server not available");
    else log.debug({ server: this.name, state }, "server state");
  }
}
