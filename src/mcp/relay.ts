import {
  inputRequired,
  type InputRequest,
  ProtocolError,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Question } from "../upstream/active-calls.ts";
import type { Gateway, ResolvedTarget } from "./gateway.ts";
import type { CallOutcome, CallResult } from "./parked-calls.ts";

/** What travels with a question and comes back with its answer, sealed. */
export type RequestState =
  | { readonly kind: "parked"; readonly call: string }
  /** The server's own state, of a server that speaks the current protocol itself. */
  | { readonly kind: "upstream"; readonly state: string | undefined };

export interface RelayRequest {
  readonly target: ResolvedTarget;
  readonly method: "tools/call" | "prompts/get" | "resources/read";
  readonly params: Record<string, unknown>;
  readonly ctx: ServerContext;
}

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

  constructor(gateway: Gateway, codec: RequestStateCodec<RequestState>) {
    this.#gateway = gateway;
    this.#codec = codec;
  }

  async pass(request: RelayRequest): Promise<CallResult> {
    const { ctx } = request;
    const state = ctx.mcpReq.requestState<RequestState>();
    const progress = createProgressChain(ctx);
    const outcome =
      state?.kind === "parked"
        ? await this.#resume(state.call, ctx)
        : await this.#start(request, state, progress.relay);
    await progress.sent();
    return this.#toResult(outcome, request);
  }

  #start(
    { target, method, params, ctx }: RelayRequest,
    state: RequestState | undefined,
    onProgress: ProgressRelay,
  ): Promise<CallOutcome> {
    const answers =
      state?.kind === "upstream" ? { inputResponses: ctx.mcpReq.inputResponses, requestState: state.state } : {};
    return this.#gateway.parked.start(ctx.mcpReq.signal, (ask, signal) =>
      target.upstream.request({
        method,
        params: { ...params, ...answers, ...passedMeta(ctx) },
        signal,
        onProgress,
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

  async #toResult(outcome: CallOutcome, { ctx }: RelayRequest): Promise<CallResult> {
    if (outcome.kind === "question") {
      const requestState = await this.#codec.mint({ kind: "parked", call: outcome.call }, ctx);
      const inputRequests = { [ANSWER_KEY]: toInputRequest(outcome.question) };
      return { ...inputRequired({ inputRequests, requestState }) };
    }
    const { result } = outcome;
    if (result["resultType"] !== "input_required") return result;
    const upstreamState = typeof result["requestState"] === "string" ? result["requestState"] : undefined;
    return { ...result, requestState: await this.#codec.mint({ kind: "upstream", state: upstreamState }, ctx) };
  }
}

type ProgressRelay = (progress: Record<string, unknown>) => void;

/** Progress goes out in the order it came in, all of it before the result. */
function createProgressChain(ctx: ServerContext): { relay: ProgressRelay; sent: () => Promise<void> } {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  let chain = Promise.resolve();
  return {
    relay(progress) {
      if (progressToken === undefined) return;
      const params = { ...progress, progressToken };
      chain = chain.then(() => ctx.mcpReq.notify({ method: "notifications/progress", params })).catch(() => undefined); // the client is gone
    },
    sent: () => chain,
  };
}

/** Trace context and what else clients put there; the progress token is per hop. */
function passedMeta(ctx: ServerContext): { _meta?: Record<string, unknown> } {
  const { progressToken: _hop, ...meta } = ctx.mcpReq._meta ?? {};
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** Whoever is asked must see which server asks. */
function nameOrigin(question: Question, server: string): Question {
  const message = question.params?.["message"];
  if (typeof message !== "string") return question;
  return { ...question, params: { ...question.params, message: `[${server}] ${message}` } };
}

function toInputRequest({ method, params }: Question): InputRequest {
  return { method, params: params ?? {} } as unknown as InputRequest;
}

/** A tool call that could not be made is an answer the model can read; only protocol errors stay errors. */
export function toToolError(error: unknown): CallResult {
  if (error instanceof ProtocolError || (error instanceof Error && error.name === "AbortError")) throw error;
  return { content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }], isError: true };
}
