import type {
  CallToolRequest,
  CallToolResult,
  JSONRPCMessage,
  JSONRPCRequest,
  McpServer,
  MessageExtraInfo,
  RequestId,
  Server,
  ServerContext,
  Transport,
} from "@modelcontextprotocol/server";
import { isObject } from "../../base/json.ts";

type HandleCall = (request: CallToolRequest, ctx: ServerContext) => Promise<CallToolResult>;

const shortWays = new WeakMap<object, ShortWay>();

/** Answers tool calls with this handler, whichever way they come. */
export function handleCalls(mcp: McpServer, handle: HandleCall): void {
  shortWays.set(mcp, new ShortWay(mcp.server, handle));
}

/** From now on takes ordinary calls off what the transport of a connection of the 2025 era delivers to its server. */
export function openShortWay(product: object, transport: Transport): void {
  shortWays.get(product)?.open(transport);
}

/**
 * A tool call of the 2025 era is by far the most frequent request, and most of what the SDK does around
 * its handler (validating four times, codecs, a dozen promises) is for other cases. So an ordinary call
 * goes from the transport to the handler and its ordinary result back. When anything else comes of it,
 * as an error or a question, the SDK gets the request after all, and from its handler what has become of
 * it: then it says so in its own way.
 */
class ShortWay {
  readonly #server: Server;
  readonly #handle: HandleCall;
  readonly #underWay = new Map<RequestId, AbortController>();
  readonly #settled = new Map<RequestId, Promise<CallToolResult>>();

  constructor(server: Server, handle: HandleCall) {
    this.#server = server;
    this.#handle = handle;
    server.setRequestHandler("tools/call", (request, ctx) => this.#takeSettled(ctx.mcpReq.id) ?? handle(request, ctx));
  }

  open(transport: Transport): void {
    const { onmessage, onclose } = transport;
    const pass: Delivery["pass"] = (message, extra) => onmessage?.(message, extra);
    transport.onmessage = (message, extra) => {
      if (isCancellation(message)) this.#underWay.get(message.params.requestId)?.abort(message.params.reason);
      if (this.#isOrdinary(message)) void this.#call(message, { transport, pass, extra });
      else pass(message, extra);
    };
    transport.onclose = () => {
      onclose?.();
      for (const call of this.#underWay.values()) call.abort(new Error("the connection was closed"));
    };
  }

  async #call(message: OrdinaryCall, delivery: Delivery): Promise<void> {
    const { id } = message;
    const abort = new AbortController();
    this.#underWay.set(id, abort);
    const context = createContext(message, abort.signal, delivery);
    const outcome = this.#handleNext(message, context);
    let result: unknown;
    try {
      result = await outcome;
    } catch {
      // the SDK hears it
    }
    this.#underWay.delete(id);
    if (abort.signal.aborted) return; // nobody waits for it any more
    const { transport, pass, extra } = delivery;
    if (isOrdinaryResult(result)) {
      await transport.send({ jsonrpc: "2.0", id, result }).catch(() => undefined); // nobody is there any more
      return;
    }
    this.#settled.set(id, outcome);
    pass(message, extra);
  }

  /** Not at once: what came before it in the same piece of input is handled before it. */
  async #handleNext(message: OrdinaryCall, context: ServerContext): Promise<CallToolResult> {
    await Promise.resolve();
    return this.#handle(message, context);
  }

  #takeSettled(id: RequestId): Promise<CallToolResult> | undefined {
    const outcome = this.#settled.get(id);
    this.#settled.delete(id);
    return outcome;
  }

  /** Before a client has said hello it is not known whom a call is from. */
  #isOrdinary(message: JSONRPCMessage): message is OrdinaryCall {
    return isOrdinaryCall(message) && !this.#underWay.has(message.id) && this.#server.getClientVersion() !== undefined;
  }
}

interface Delivery {
  readonly transport: Transport;
  readonly pass: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  readonly extra: MessageExtraInfo | undefined;
}

/** What handlers of calls use of their context. */
function createContext(
  { id, method, params: { _meta } }: OrdinaryCall,
  signal: AbortSignal,
  { transport, extra }: Pick<Delivery, "transport" | "extra">,
): ServerContext {
  const context = {
    sessionId: transport.sessionId,
    mcpReq: {
      id,
      method,
      _meta,
      signal,
      requestState: () => undefined,
      notify: (notification: { method: string; params?: Record<string, unknown> }) =>
        transport.send({ jsonrpc: "2.0", ...notification }, { relatedRequestId: id }),
    },
    http: extra?.authInfo === undefined ? undefined : { authInfo: extra.authInfo },
  };
  return context as unknown as ServerContext;
}

type OrdinaryCall = JSONRPCRequest & CallToolRequest;

const CALL_MEMBERS = new Set(["jsonrpc", "id", "method", "params"]);
const CALL_PARAMS = new Set(["name", "arguments", "_meta"]);
/** What the protocol itself puts into `_meta`, but for the token of progress, is not for here. */
const RESERVED_META = "io.modelcontextprotocol/";

export function isOrdinaryCall(message: unknown): message is OrdinaryCall {
  if (!isObject(message) || message["method"] !== "tools/call" || message["jsonrpc"] !== "2.0") return false;
  const { id, params } = message;
  if (!hasOnly(message, CALL_MEMBERS) || !isId(id) || !isObject(params) || !hasOnly(params, CALL_PARAMS)) return false;
  const { name, arguments: args, _meta } = params;
  return (
    typeof name === "string" && (args === undefined || isObject(args)) && (_meta === undefined || isOrdinaryMeta(_meta))
  );
}

function isOrdinaryMeta(meta: unknown): boolean {
  if (!isObject(meta)) return false;
  const { progressToken } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return false;
  return !Object.keys(meta).some((key) => key.startsWith(RESERVED_META));
}

/** A question has no content; what a server says besides is passed on as it is, whichever way it goes. */
function isOrdinaryResult(result: unknown): result is CallToolResult {
  return isObject(result) && "content" in result && !("resultType" in result);
}

function hasOnly(object: Record<string, unknown>, keys: ReadonlySet<string>): boolean {
  for (const key in object) if (!keys.has(key)) return false;
  return true;
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

interface Cancellation {
  readonly params: { readonly requestId: RequestId; readonly reason?: string };
}

function isCancellation(message: unknown): message is Cancellation {
  return isObject(message) && message["method"] === "notifications/cancelled" && isObject(message["params"]);
}
