import {
  type Client,
  type JSONRPCMessage,
  type Progress,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Transport,
} from "@modelcontextprotocol/client";
import { isModern } from "./current-protocol.ts";
import { anyResult } from "./passthrough.ts";
import { isObject } from "../../base/json.ts";

interface CallRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export interface CallOptions {
  /** A call may take this long without a sign of life; progress starts it anew. */
  readonly timeout: number;
  /** And this long at the very most. */
  readonly maxTotalTimeout: number;
  readonly signal?: AbortSignal;
  readonly onprogress: (progress: Progress) => void;
  readonly headers?: Readonly<Record<string, string>>;
}

type Result = Record<string, unknown>;

const shortcuts = new WeakMap<Client, DirectCalls>();

/**
 * From now on requests to this server go straight to its transport. For connections of the 2025 era, on
 * which a request is one message, an answer another, and nothing is in between but progress.
 */
export function callDirectly(client: Client, transport: Transport): void {
  if (!isModern(client)) shortcuts.set(client, new DirectCalls(transport));
}

export function sendRequest(client: Client, request: CallRequest, options: CallOptions): Promise<Result> {
  const direct = shortcuts.get(client);
  if (direct !== undefined) return direct.request(request, options);
  return client.request(request, anyResult, { ...options, resetTimeoutOnProgress: true, allowInputRequired: true });
}

/** Far from the ids that the SDK gives to its own requests on the same connection, and still 31 bits. */
const FIRST_ID = 1_000_000_000;

/**
 * What the SDK does for a request, without what it does for every other case: its validation, lookups and
 * promises cost several times as much as passing a message on.
 */
class DirectCalls {
  readonly #transport: Transport;
  readonly #open = new Map<number, OpenCall>();
  #nextId = FIRST_ID;

  constructor(transport: Transport) {
    this.#transport = transport;
    const { onmessage, onclose } = transport;
    transport.onmessage = (message, extra) => {
      if (!this.#take(message)) onmessage?.(message, extra);
    };
    transport.onclose = () => {
      onclose?.();
      const closed = new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed");
      for (const call of this.#open.values()) call.fail(closed);
    };
  }

  request({ method, params }: CallRequest, options: CallOptions): Promise<Result> {
    if (options.signal?.aborted === true) return Promise.reject(abortError(options.signal));
    const id = this.#nextId++;
    const call = new OpenCall(options, {
      ended: () => this.#open.delete(id),
      cancelled: (reason) => this.#tellCancelled(id, reason),
    });
    this.#open.set(id, call);
    const meta = { ...(params["_meta"] as object | undefined), progressToken: id };
    this.#transport
      .send({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } })
      .catch((error: unknown) => call.fail(error));
    return call.result;
  }

  #tellCancelled(requestId: number, reason: string): void {
    const params = { requestId, reason };
    const message = { jsonrpc: "2.0", method: "notifications/cancelled", params } as const;
    this.#transport.send(message).catch(() => undefined); // the connection ended, and all its calls with it
  }

  /** Whether a message belongs to one of these calls; the rest is the SDK's. */
  #take(message: JSONRPCMessage): boolean {
    if ("method" in message) {
      if (message.method !== "notifications/progress" || !isProgress(message.params)) return false;
      const call = this.#open.get(Number(message.params.progressToken));
      call?.progress(message.params);
      return call !== undefined;
    }
    const id = Number(message.id);
    if (!(id >= FIRST_ID)) return false;
    this.#open.get(id)?.answer(message); // otherwise nobody waits for it any more
    return true;
  }
}

interface CallEvents {
  ended(): void;
  cancelled(reason: string): void;
}

class OpenCall {
  readonly #options: CallOptions;
  readonly #events: CallEvents;
  readonly #settled = Promise.withResolvers<Result>();
  readonly #timer: NodeJS.Timeout;
  readonly #deadline: number;

  constructor(options: CallOptions, events: CallEvents) {
    const { signal, timeout, maxTotalTimeout } = options;
    this.#options = options;
    this.#events = events;
    this.#timer = setTimeout(() => this.#timeOut(), timeout);
    this.#deadline = performance.now() + maxTotalTimeout;
    signal?.addEventListener("abort", this.#abort);
  }

  get result(): Promise<Result> {
    return this.#settled.promise;
  }

  answer(message: { readonly result?: unknown; readonly error?: unknown }): void {
    const { result, error } = message;
    if (isObject(result)) {
      this.#end();
      this.#settled.resolve(withoutResultType(result));
    } else if (isError(error)) this.fail(ProtocolError.fromError(error.code, error.message, error.data));
    else this.fail(new SdkError(SdkErrorCode.InvalidResult, "The server's answer has neither a result nor an error"));
  }

  progress({ progressToken: _hop, ...progress }: Progress & { readonly progressToken: unknown }): void {
    if (performance.now() >= this.#deadline) return this.#timeOut();
    this.#timer.refresh();
    this.#options.onprogress(progress);
  }

  fail(error: unknown): void {
    this.#end();
    this.#settled.reject(error);
  }

  readonly #abort = (): void => {
    const error = abortError(this.#options.signal);
    this.#cancel(error.message, error);
  };

  #timeOut(): void {
    const { timeout } = this.#options;
    const error = new SdkError(SdkErrorCode.RequestTimeout, "Request timed out", { timeout });
    this.#cancel(String(error), error);
  }

  #cancel(reason: string, error: SdkError): void {
    this.#events.cancelled(reason);
    this.fail(error);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#abort);
    this.#events.ended();
  }
}

/** As the SDK has it: whoever aborted knows better. */
function abortError(signal: AbortSignal | undefined): SdkError {
  return new SdkError(SdkErrorCode.RequestTimeout, String(signal?.reason));
}

/** Means something in the current protocol only; here it may be anything. */
function withoutResultType(result: Result): Result {
  if (!("resultType" in result)) return result;
  const { resultType: _unknown, ...rest } = result;
  return rest;
}

function isProgress(params: unknown): params is Progress & { readonly progressToken: unknown } {
  return isObject(params) && typeof params["progress"] === "number";
}

function isError(error: unknown): error is { code: number; message: string; data?: unknown } {
  return isObject(error) && typeof error["code"] === "number" && typeof error["message"] === "string";
}
