import {
  type ClientCapabilities,
  inputRequired,
  type InputRequest,
  type LoggingLevel,
  ProtocolError,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { contentHash } from "../base/content-hash.ts";
import { PmlError, toErrorReport } from "../base/errors.ts";
import type { Ask, Question } from "../upstream/active-calls.ts";
import type { CurrentParams } from "../upstream/connection/current-protocol.ts";
import type { Gateway, ResolvedTarget } from "./server/gateway.ts";
import { createNoticeChain, type NoticeChain } from "./server/notices.ts";
import type { CallOutcome, CallResult } from "./parked-calls.ts";
import type { PassedMeta } from "../gateway/trace-call.ts";

/** What travels with a question and comes back with its answer, sealed. */
export type RequestState =
  | { readonly kind: "parked"; readonly call: string }
  /** The server's own state, of a server that speaks the current protocol itself, and the call it belongs to. */
  | { readonly kind: "upstream"; readonly state: string; readonly call?: string };

export interface RelayRequest {
  readonly target: ResolvedTarget;
  readonly method: "tools/call" | "prompts/get" | "resources/read";
  readonly params: Record<string, unknown>;
  /** What the server is told besides, as from the client. */
  readonly meta: PassedMeta;
  /** Arguments that travel as HTTP headers too. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the request may be made; it may ask a person first, who has been asked when it goes on after a question. */
  readonly permit?: (given: { readonly ask?: Ask; readonly wasAsked: boolean }) => Promise<void>;
  readonly ctx: ServerContext;
}

/** What the connection, or in the current protocol the request itself, says about the client. */
export type ReadClient = (ctx: ServerContext) => Pick<CurrentParams, "capabilities" | "logLevel">;

const ANSWER_KEY = "answer";
const INVALID_REQUEST = -32_600;
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

  /** Runs something of PML itself in the same way: it may stop at a question and go on with the answer. */
  async passOwn(ctx: ServerContext, run: (call: OwnRun) => Promise<CallResult>): Promise<OwnOutcome> {
    const state = ctx.mcpReq.requestState<RequestState>();
    const notices = createNoticeChain(ctx);
    const { capabilities } = this.#readClient(ctx);
    const offered = (ask: Ask): Pick<OwnRun, "ask" | "sample"> => ({
      ...(capabilities?.elicitation === undefined ? {} : { ask }),
      ...(capabilities?.sampling === undefined ? {} : { sample: ask }),
    });
    const outcome =
      state?.kind === "parked"
        ? await this.#resume(state.call, ctx)
        : await this.#gateway.parked.start(ctx.mcpReq.signal, (ask, signal) =>
            run({ signal, progress: notices.progress, ...offered(ask) }),
          );
    await notices.sent();
    return outcome.kind === "question"
      ? { kind: "question", result: await this.#toQuestion(outcome, ctx) }
      : { kind: "done", result: outcome.result };
  }

  #start(request: RelayRequest, state: RequestState | undefined, notices: NoticeChain): Promise<CallOutcome> {
    const { target, method, params, meta, headers, ctx } = request;
    const { inputResponses } = ctx.mcpReq;
    const client = this.#readClient(ctx);
    const current = {
      ...client,
      ...(headers === undefined ? {} : { headers }),
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(state?.kind === "upstream" ? { requestState: state.state } : {}),
    };
    return this.#gateway.parked.start(ctx.mcpReq.signal, async (ask, signal) => {
      const wasAsked = state?.kind === "upstream" && state.call === hashCall(request);
      await request.permit?.({ wasAsked, ...(client.capabilities?.elicitation === undefined ? {} : { ask }) });
      return target.upstream.request({
        method,
        params: { ...params, ...meta },
        current,
        signal,
        onProgress: notices.progress,
        onLog: (message) => {
          if (isWanted(message["level"], client.logLevel)) notices.log(message);
        },
        ask: async (question) => {
          // Otherwise the server, and all its other callers, would wait for an answer that cannot come.
          if (!canAnswer(client.capabilities ?? {}, question))
            throw new ProtocolError(INVALID_REQUEST, `The client that called does not support ${question.method}`);
          return ask(nameOrigin(question, target.server));
        },
      });
    });
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

  async #toResult(outcome: CallOutcome, request: RelayRequest): Promise<CallResult> {
    const { ctx, target } = request;
    if (outcome.kind === "question") return this.#toQuestion(outcome, ctx);
    const { result } = outcome;
    if (result["resultType"] !== "input_required") return result;
    const asked = { ...result, ...nameOrigins(result["inputRequests"], target.server) };
    const state = result["requestState"];
    if (typeof state !== "string") return asked;
    return {
      ...asked,
      requestState: await this.#codec.mint({ kind: "upstream", state, call: hashCall(request) }, ctx),
    };
  }

  async #toQuestion({ call, question }: AskedOutcome, ctx: ServerContext): Promise<CallResult> {
    const requestState = await this.#codec.mint({ kind: "parked", call }, ctx);
    return { ...inputRequired({ inputRequests: { [ANSWER_KEY]: toInputRequest(question) }, requestState }) };
  }
}

type AskedOutcome = Extract<CallOutcome, { kind: "question" }>;

/** What a call of PML itself is given. */
export interface OwnRun {
  readonly signal: AbortSignal;
  readonly progress: NoticeChain["progress"];
  /** Where the client can put a form before a person. */
  readonly ask?: Ask;
  /** Where the client lends its model. */
  readonly sample?: Ask;
}

export type OwnOutcome =
  | { readonly kind: "done"; readonly result: CallResult }
  | { readonly kind: "question"; readonly result: CallResult };

/** Tells calls apart: what was agreed to for one holds for no other. */
function hashCall({ target, method, params }: RelayRequest): string {
  return contentHash({ server: target.server, method, params });
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

function canAnswer({ elicitation, sampling }: ClientCapabilities, { method, params }: Question): boolean {
  if (method === "sampling/createMessage") return sampling !== undefined;
  // Before there were URLs, declaring elicitation meant forms.
  return params?.["mode"] === "url"
    ? elicitation?.url !== undefined
    : elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
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

/** Where programs find what kind of error it was that PML answered a call with. */
const ERROR_KEY = "dev.pml/error";

/** What PML itself refuses is an answer too; everything else stays as it is. */
export function toRefusal(error: unknown): CallResult {
  if (error instanceof PmlError) return toToolError(error);
  throw error;
}

/** A tool call that could not be made is an answer the model can read; only protocol errors stay errors. */
export function toToolError(error: unknown): CallResult {
  if (error instanceof ProtocolError || (error instanceof Error && error.name === "AbortError")) throw error;
  if (error instanceof PmlError) {
    const report = toErrorReport(error);
    const text = [report.message, ...(report.hint === undefined ? [] : [report.hint])].join(". ");
    return { content: [{ type: "text", text }], isError: true, _meta: { [ERROR_KEY]: report } };
  }
  return { content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }], isError: true };
}
