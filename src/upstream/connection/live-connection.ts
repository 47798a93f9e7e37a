import { type Client, type PriorDiscovery, type Progress, type Transport } from "@modelcontextprotocol/client";
import type { McpServerEntry } from "../../config/schema.ts";
import type { Logger } from "../../base/log.ts";
import { ActiveCalls, type Listener } from "../active-calls.ts";
import { type Connection, connectServer } from "./open-connection.ts";
import { adaptRequest, type CurrentParams, isModern } from "./current-protocol.ts";
import { CallTimeout, isTimeout, SessionGone } from "../failures.ts";
import type { ServerAuth } from "../oauth/server-auth.ts";
import type { ProcessGroups } from "./process-groups.ts";
import { createLossCheck, findLoss, isSessionGone } from "./remote-loss.ts";
import { sendRequest } from "./send-request.ts";
import type { ServerOutput } from "./server-output.ts";
import { asProcess, type StdioProcess } from "./stdio-process.ts";
import { type TurnKind, Turns } from "../turns.ts";
import type { UpstreamLimits } from "../upstream-limits.ts";

export interface UpstreamRequest extends Listener {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly current?: CurrentParams;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface ConnectionOptions {
  readonly name: string;
  readonly entry: McpServerEntry;
  readonly limits: UpstreamLimits;
  readonly groups: ProcessGroups;
  readonly output: ServerOutput | undefined;
  readonly log: Logger;
  readonly era: PriorDiscovery | undefined;
  readonly auth: ServerAuth | undefined;
  /** Subjects known to ask during a call, shared by all connections to the server. */
  readonly askers: Set<string>;
  readonly onNoise: (line: string) => void;
  /** Called before every attempt; throws if no connection is wanted any more. */
  readonly onTry: (transport: Transport) => void;
  readonly onNotification: (client: Client, method: string, params: unknown) => Promise<void>;
  /** Called when the connection ended without PML ending it. */
  readonly onLost: (connection: LiveConnection, reason: string) => void;
}

/** Grace period in which calls on a lost connection may still get their results. */
const LAST_ANSWERS_MS = 1_000;
const CLOSED = "the connection was closed";
const NO_TURN = { pause: () => undefined, resume: async () => undefined, [Symbol.dispose]: () => undefined };

/** One connection to a server, with its calls under way. */
export class LiveConnection implements AsyncDisposable {
  readonly client: Client;
  readonly process: StdioProcess | undefined;
  readonly #options: ConnectionOptions;
  readonly #calls: ActiveCalls;
  readonly #turns = new Turns();
  #lost: string | undefined;

  static async open(options: ConnectionOptions): Promise<LiveConnection> {
    const { entry, limits, groups, output, onNoise } = options;
    const calls = new ActiveCalls(options.name, options.askers);
    const opened: { live?: LiveConnection } = {};
    const connection = await connectServer({
      entry,
      timeoutMs: limits.connectMs,
      maxMessageBytes: limits.messageBytes,
      groups,
      output,
      era: options.era,
      auth: options.auth,
      onNoise: (line) => {
        onNoise(line);
        options.log.debug({ server: options.name, line: line.slice(0, 200) }, "not a message");
      },
      prepare: (client, transport) => {
        options.onTry(transport);
        prepare(client, calls, options, (reason) => opened.live?.giveUp(reason));
      },
    });
    opened.live = new LiveConnection(connection, calls, options);
    return opened.live;
  }

  private constructor({ client, process }: Connection, calls: ActiveCalls, options: ConnectionOptions) {
    this.client = client;
    this.process = process;
    this.#calls = calls;
    this.#options = options;
    client.onclose = () => this.#end(process?.exit ?? CLOSED);
  }

  /** Reason for the loss; undefined while the connection is usable. */
  get lost(): string | undefined {
    return this.#lost ?? (this.client.transport === undefined ? CLOSED : undefined);
  }

  /** True if a call that asks would wait for another one. */
  get taken(): boolean {
    return this.#turns.taken;
  }

  async call(request: UpstreamRequest, kind: TurnKind): Promise<Record<string, unknown>> {
    const { method, signal, onProgress, current = {} } = request;
    const modern = isModern(this.client);
    using turn = modern ? NO_TURN : await this.#turns.begin(kind, signal);
    const { params, options } = adaptRequest(this.client, request.params, current);
    const session = this.client.transport?.sessionId;
    using call = this.#calls.begin({ listener: request, subject: subjectOf(request), turn });
    const { callMs, longestCallMs } = this.#options.limits;
    try {
      return await sendRequest(
        this.client,
        { method, params },
        {
          timeout: callMs,
          maxTotalTimeout: longestCallMs,
          ...options,
          ...(signal === undefined ? {} : { signal }),
          // Requests progress even without a listener: it resets the timeout.
          onprogress: (progress) => {
            onProgress?.(progress);
          },
        },
      );
    } catch (error) {
      const { name } = this.#options;
      const loss = findLoss(error, session);
      if (loss !== undefined) this.giveUp(loss);
      if (isSessionGone(error, session)) throw new SessionGone(name, error);
      if (this.lost !== undefined || !isTimeout(error)) throw error;
      throw new CallTimeout(name, { method, question: call.question, limitMs: callMs });
    }
  }

  /** Treats the connection as lost, though the transport has not closed. */
  giveUp(reason: string): void {
    this.#end(reason);
    const close = (): void => void this.client.close().catch(() => undefined); // the other end is gone
    setTimeout(close, LAST_ANSWERS_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lost = CLOSED;
    await this.client.close();
  }

  #end(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    this.#options.onLost(this, reason);
  }
}

/** Identifies calls that may ask again. */
export function subjectOf({ method, params }: UpstreamRequest): string {
  return `${method} ${String(params["name"] ?? params["uri"])}`;
}

/** Installs handlers before the first message can arrive. */
function prepare(
  client: Client,
  calls: ActiveCalls,
  { name, log, onNotification }: ConnectionOptions,
  giveUp: (reason: string) => void,
): void {
  client.setRequestHandler("elicitation/create", (request) => calls.ask(request) as never);
  client.setRequestHandler("sampling/createMessage", (request) => calls.ask(request) as never);
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === "notifications/message") calls.log(params ?? {});
    else await onNotification(client, method, params);
  };
  const checkLoss = createLossCheck(client, giveUp);
  client.onerror = (error) => {
    log.debug({ server: name, error: error.message }, "upstream");
    if (asProcess(client.transport) === undefined) checkLoss(error);
  };
}
