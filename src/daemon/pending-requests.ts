/** A client's unanswered request. */
export interface PendingRequest {
  readonly id: unknown;
  readonly method: string;
  readonly line: string;
}

interface JsonRpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

/**
 * Records the part of a conversation that a shim needs to continue with another daemon: the opening handshake and the
 * open requests.
 */
export class PendingRequests {
  readonly #open = new Map<string, PendingRequest>();
  #initialize: PendingRequest | undefined;
  #initialized: string | undefined;

  /** Records a line from the client. */
  noteRequest(line: string): void {
    const { id, method, params } = parse(line);
    if (typeof method !== "string") return; // the client's answer to a request of ours
    if (id !== undefined) {
      if (typeof id !== "string" && typeof id !== "number") return; // no answer could carry such an id
      const request = { id, method, line };
      this.#open.set(key(id), request);
      if (method === "initialize") this.#initialize = request;
    } else if (method === "notifications/initialized") this.#initialized = line;
    else if (method === "notifications/cancelled") this.#open.delete(key(params?.requestId));
  }

  /** Records a line to the client. */
  noteAnswer(line: string): void {
    const id = readAnswerId(line);
    if (id !== undefined) this.#open.delete(key(id));
  }

  get open(): readonly PendingRequest[] {
    return [...this.#open.values()];
  }

  drop(request: PendingRequest): void {
    this.#open.delete(key(request.id));
  }

  /** The messages that open a connection to a new daemon: the handshake again, if it was answered. */
  get handshake(): { initialize: PendingRequest; initialized: string | undefined } | undefined {
    if (this.#initialize === undefined || this.#open.has(key(this.#initialize.id))) return undefined;
    return { initialize: this.#initialize, initialized: this.#initialized };
  }
}

/** Methods that are safe to repeat: they read, or set what is already set. A tool call is not among them. */
const REPEATABLE = new Set([
  "completion/complete",
  "initialize",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "server/discover",
  "subscriptions/listen",
  "tools/list",
]);

export function isRepeatable({ method }: PendingRequest): boolean {
  return REPEATABLE.has(method);
}

/** False for a subscription: its answer only comes when it ends. */
export function isAnswered({ method }: PendingRequest): boolean {
  return method !== "subscriptions/listen";
}

const INTERNAL_ERROR = -32_603;

export function failureLine({ id }: PendingRequest, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } });
}

const ID = String.raw`("(?:[^"\\]|\\.)*"|-?\d+)`;
const ID_FIRST = new RegExp(String.raw`^\{"jsonrpc":"2\.0","id":${ID},"(?:result|error)":`);
const ID_LAST = new RegExp(String.raw`,"jsonrpc":"2\.0","id":${ID}\}$`);
const MAX_ID_LENGTH = 300;

/** Finds the id without parsing: results can be megabytes, and all pass through here. */
function readAnswerId(line: string): unknown {
  const found =
    ID_FIRST.exec(line.slice(0, MAX_ID_LENGTH)) ??
    (line.startsWith(`{"result":`) ? ID_LAST.exec(line.slice(-MAX_ID_LENGTH)) : undefined);
  if (found?.[1] !== undefined) return JSON.parse(found[1]);
  const { id, method } = parse(line);
  return method === undefined ? id : undefined;
}

function parse(line: string): JsonRpcMessage {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" && message !== null ? message : {};
  } catch {
    return {}; // not JSON: the daemon answers with the error
  }
}

/** Distinguishes the ids 1 and "1". */
function key(id: unknown): string {
  return typeof id === "string" ? `"${id}"` : String(id);
}
