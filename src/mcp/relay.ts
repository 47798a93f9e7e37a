import {
  inputRequired,
  type InputRequest,
  type LoggingLevel,
  ProtocolError,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Question } from "../upstream/active-calls.ts";
import type { CurrentParams } from "../upstream/current-protocol.ts";
import type { Gateway, ResolvedTarget } from "./gateway.ts";
import type { CallOutcome, CallResult } from "./parked-calls.ts";
import type { PassedMeta } from "./trace-call.ts";

/** What travels with a question and comes back with its answer, sealed. */
export type RequestState =
  | { readonly kind: "parked"; readonly call: string }
  /** The server's own state, of a server that speaks the current protocol itself. */
  | { readonly kind: "upstream"; readonly state: string };

export interface RelayRequest {
  readonly target: ResolvedTarget;
  readonly method: "tools/call" | "prompts/get" | "resources/read";
  readonly params: Record<string, unknown>;
  /** What the server is told besides, as from the client. */
  readonly meta: PassedMeta;
  /** Arguments that travel as HTTP headers too. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly ctx: ServerContext;
}

/** What the connection, or in the current protocol the request itself, says about the client. */
export type ReadClient = (ctx: ServerContext) => Pick<CurrentParams, "capabilities" | "logLevel">;

const ANSWER_KEY = "answer";
const INVALID_PARAMS = -32_602;

/**
 * Passes a request on to its server and its answer back, whatever eras the two speak. A question of
 * the server becomes an `input_required` result; the SDK turns that into a pushed request for clients
 * of the 2025 era.
 */
export class Relay {
  readonly #gateway: Gateway;
  readonly #codec: RequestStateCodec<RequestState>;
  readonly #readClient: ReadClient;

  constructor(gateway: Gateway, codec: RequestStateCodec<RequestState>, readClient: ReadClient) {
    this.#gateway = gateway;
    this.#codec = codec;
    this.#readClient = readClient;
  }

  async pass(request: RelayRequest): Promise<CallResult> {
    const { ctx } = request;
    const state = ctx.mcpReq.requestState<RequestState>();
    const notices = createNoticeChain(ctx);
    const outcome =
      state?.kind === "parked" ? await this.#resume(state.call, ctx) : await this.#start(request, state, notices);
    await notices.sent();
    return this.#toResult(outcome, request);
  }

  #start(
    { target, method, params, meta, headers, ctx }: RelayRequest,
    state: RequestState | undefined,
    notices: NoticeChain,
  ): Promise<CallOutcome> {
    const { inputResponses } = ctx.mcpReq;
    const client = this.#readClient(ctx);
    const current = {
      ...client,
      ...(headers === undefined ? {} : { headers }),
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(state?.kind === "upstream" ? { requestState: state.state } : {}),
    };
    return this.#gateway.parked.start(ctx.mcpReq.signal, (ask, signal) =>
      target.upstream.request({
        method,
        params: { ...params, ...meta },
        current,
        signal,
        onProgress: notices.progress,
        onLog: (message) => {
          if (isWanted(message["level"], client.logLevel)) notices.log(message);
        },
        ask: (question) => ask(nameOrigin(question, target.server)),
      }),
    );
  }

  async #resume(call: string, ctx: ServerContext): Promise<CallOutcome> {
    const answer = ctx.mcpReq.inputResponses?.[ANSWER_KEY];
    if (typeof answer !== "object" || answer === null) {
      throw new ProtocolError(INVALID_PARAMS, `The answer to the question is missing: inputResponses.${ANSWER_KEY}`);
    }
    const outcome = await this.#gateway.parked.resume(call, answer as Record<string, unknown>, ctx.mcpReq.signal);
    if (outcome === undefined)
      throw new ProtocolError(INVALID_PARAMS, "The call that asked is not waiting any more; make it again");
    return outcome;
  }

  async #toResult(outcome: CallOutcome, { ctx, target }: RelayRequest): Promise<CallResult> {
    if (outcome.kind === "question") {
      const requestState = await this.#codec.mint({ kind: "parked", call: outcome.call }, ctx);
      const inputRequests = { [ANSWER_KEY]: toInputRequest(outcome.question) };
      return { ...inputRequired({ inputRequests, requestState }) };
    }
    const { result } = outcome;
    if (result["resultType"] !== "input_required") return result;
    const asked = { ...result, ...nameOrigins(result["inputRequests"], target.server) };
    const state = result["requestState"];
    if (typeof state !== "string") return asked;
    return { ...asked, requestState: await this.#codec.mint({ kind: "upstream", state }, ctx) };
  }
}

interface NoticeChain {
  readonly progress: (progress: Record<string, unknown>) => void;
  readonly log: (message: Record<string, unknown>) => void;
  readonly sent: () => Promise<void>;
}

/** Progress and log messages go out in the order they came in, all of them before the result. */
function createNoticeChain(ctx: ServerContext): NoticeChain {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  let chain = Promise.resolve();
  const send = (method: string, params: Record<string, unknown>): void => {
    chain = chain.then(() => ctx.mcpReq.notify({ method, params })).catch(() => undefined); // the client is gone
  };
  return {
    progress(progress) {
      if (progressToken !== undefined) send("notifications/progress", { ...progress, progressToken });
    },
    log: (message) => send("notifications/message", message),
    sent: () => chain,
  };
}

/** From the least to the most severe. */
const LOG_LEVELS: readonly unknown[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] satisfies LoggingLevel[];

function isWanted(level: unknown, least: LoggingLevel | undefined): boolean {
  return least !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

/** Whoever is asked must see which server asks. */
function nameOrigin(question: Question, server: string): Question {
  const message = question.params?.["message"];
  if (typeof message !== "string") return question;
  return { ...question, params: { ...question.params, message: `[${server}] ${message}` } };
}

function nameOrigins(questions: unknown, server: string): { inputRequests?: Record<string, Question> } {
  if (typeof questions !== "object" || questions === null) return {};
  const named = Object.entries(questions).map(([key, question]) => [key, nameOrigin(question as Question, server)]);
  return { inputRequests: Object.fromEntries(named) as Record<string, Question> };
}

function toInputRequest({ method, params }: Question): InputRequest {
  return { method, params: params ?? {} } as unknown as InputRequest;
}

/** A tool call that could not be made is an answer the model can read; only protocol errors stay errors. */
export function toToolError(error: unknown): CallResult {
  if (error instanceof ProtocolError || (error instanceof Error && error.name === "AbortError")) throw error;
  return { content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }], isError: true };
}
