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
import { PmlError, toErrorReport, withoutDatabaseText } from "../base/errors.ts";
import type { Ask, Question } from "../upstream/active-calls.ts";
import type { CurrentParams } from "../upstream/connection/current-protocol.ts";
import type { Gateway } from "./server/gateway.ts";
import type { ResolvedTarget } from "./server/resolve-names.ts";
import { createNoticeChain, type NoticeChain } from "./server/notices.ts";
import type { CallResult } from "../gateway/call-tool.ts";
import type { ExchangeOutcome } from "./parked-calls.ts";
import type { PassedMeta } from "./server/trace-call.ts";

/** Travels with a question and comes back with its answer, sealed. */
export type RequestState =
  | { readonly kind: "parked"; readonly call: string; readonly connection: string }
  /** The state of a server that speaks the current protocol itself, and the ticket of the call that was permitted. */
  | { readonly kind: "upstream"; readonly state: string; readonly ticket?: string };

/** A request for a server behind the gateway. */
export interface RelayRequest {
  readonly target: ResolvedTarget;
  readonly method: "tools/call" | "prompts/get" | "resources/read";
  readonly params: Record<string, unknown>;
  /** Passed on as the client sent it, with the span of this call as its parent. */
  readonly meta: PassedMeta;
  /** Arguments that travel as HTTP headers too. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The client that waits for a call, while the call runs. */
export interface ClientLink {
  readonly ctx: ServerContext;
  readonly signal: AbortSignal;
  readonly client: ReturnType<ReadClient>;
  readonly notices: NoticeChain;
  /** Puts any question to the client, whether or not it can answer it. */
  readonly question: Ask;
  /** Present where the client can put a form before a person. */
  readonly ask?: Ask;
  /** Present where the client lends its model. */
  readonly sample?: Ask;
}

/** Reads what the connection, or in the current protocol the request itself, says about the client. */
export type ReadClient = (ctx: ServerContext) => Pick<CurrentParams, "capabilities" | "logLevel">;

type ParkedState = Extract<RequestState, { kind: "parked" }>;

interface RelayParts {
  readonly gateway: Gateway;
  readonly codec: RequestStateCodec<RequestState>;
  readonly readClient: ReadClient;
  /** Tells connections apart; empty for requests of the current protocol over HTTP, which have none. */
  readonly connection: string;
}

const ANSWER_KEY = "answer";
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;

/**
 * Carries calls over exchanges with the client, whatever eras client and server speak. A question in the middle
 * of a call ends the exchange with an `input_required` result, and the answer resumes the call; for clients of the
 * 2025 era the SDK turns that into a pushed request.
 */
export class Relay {
  readonly #gateway: Gateway;
  readonly #codec: RequestStateCodec<RequestState>;
  readonly #readClient: ReadClient;
  readonly #connection: string;

  constructor({ gateway, codec, readClient, connection }: RelayParts) {
    this.#gateway = gateway;
    this.#codec = codec;
    this.#readClient = readClient;
    this.#connection = connection;
  }

  /** Runs a call, or resumes the one that the request answers. Resolves with its result or its next question. */
  async exchange(ctx: ServerContext, run: (link: ClientLink) => Promise<CallResult>): Promise<CallResult> {
    const state = ctx.mcpReq.requestState<RequestState>();
    const notices = createNoticeChain(ctx);
    const outcome =
      state?.kind === "parked"
        ? await this.#resume(state, ctx)
        : await this.#gateway.parked.start(ctx.mcpReq.signal, (question, signal) =>
            run(this.#createLink({ ctx, notices, question, signal })),
          );
    await notices.sent();
    return outcome.kind === "question" ? this.#toQuestion(outcome, ctx) : outcome.result;
  }

  /** Passes a request on to its server and its answer back. */
  pass(request: RelayRequest, ctx: ServerContext): Promise<CallResult> {
    return this.exchange(ctx, (link) => this.send(request, link));
  }

  /** Sends a request to its server, as a part of an exchange. */
  async send(request: RelayRequest, link: ClientLink): Promise<CallResult> {
    const { target, method, params, meta } = request;
    const { ctx, signal, client, notices, question: ask } = link;
    const result = await target.upstream.request({
      method,
      params: { ...params, ...meta },
      current: this.#toCurrent(request, link),
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
    return result["resultType"] === "input_required" ? this.#sealState(result, request, ctx) : result;
  }

  /** Takes the ticket of this very call, which was permitted before its server asked something itself. */
  wasAsked(request: RelayRequest, ctx: ServerContext): boolean {
    const state = ctx.mcpReq.requestState<RequestState>();
    return state?.kind === "upstream" && this.#gateway.asked.take(state.ticket, hashCall(request));
  }

  #createLink(parts: Pick<ClientLink, "ctx" | "signal" | "notices" | "question">): ClientLink {
    const client = this.#readClient(parts.ctx);
    return {
      ...parts,
      client,
      ...(canAnswer(client.capabilities ?? {}, { method: "elicitation/create" }) ? { ask: parts.question } : {}),
      ...(client.capabilities?.sampling === undefined ? {} : { sample: parts.question }),
    };
  }

  /** For servers of the current protocol, which get the client's answers and their own state back. */
  #toCurrent({ headers }: RelayRequest, { ctx, client }: ClientLink): CurrentParams {
    const { inputResponses } = ctx.mcpReq;
    const state = ctx.mcpReq.requestState<RequestState>();
    return {
      ...client,
      ...(headers === undefined ? {} : { headers }),
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(state?.kind === "upstream" ? { requestState: state.state } : {}),
    };
  }

  async #resume({ call, connection }: ParkedState, ctx: ServerContext): Promise<ExchangeOutcome> {
    if (connection !== this.#connection)
      throw new ProtocolError(INVALID_PARAMS, "The question was put to another connection, which has to answer it");
    const answer = ctx.mcpReq.inputResponses?.[ANSWER_KEY];
    if (typeof answer !== "object" || answer === null) {
      throw new ProtocolError(INVALID_PARAMS, `The answer to the question is missing: inputResponses.${ANSWER_KEY}`);
    }
    const outcome = await this.#gateway.parked.resume(call, answer as Record<string, unknown>, ctx.mcpReq.signal);
    if (outcome === undefined)
      throw new ProtocolError(INVALID_PARAMS, "The call that asked is not waiting any more; make it again");
    return outcome;
  }

  /** A question of a server of the current protocol, whose state the client keeps. */
  async #sealState(result: CallResult, request: RelayRequest, ctx: ServerContext): Promise<CallResult> {
    const asked = { ...result, ...nameOrigins(result["inputRequests"], request.target.server) };
    const state = result["requestState"];
    if (typeof state !== "string") return asked;
    const ticket = this.#gateway.asked.issue(hashCall(request));
    const sealed = await this.#codec.mint({ kind: "upstream", state, ticket }, ctx);
    return { ...asked, requestState: sealed };
  }

  async #toQuestion({ call, question }: AskedOutcome, ctx: ServerContext): Promise<CallResult> {
    const requestState = await this.#codec.mint({ kind: "parked", call, connection: this.#connection }, ctx);
    return { ...inputRequired({ inputRequests: { [ANSWER_KEY]: toInputRequest(question) }, requestState }) };
  }
}

type AskedOutcome = Extract<ExchangeOutcome, { kind: "question" }>;

/** Tells calls apart: an approval of one holds for no other. */
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

/** Shows the person who is asked which server asks. */
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
  return { method, params: params ?? {} } as InputRequest;
}

/** Where programs find the code of an error that PML answered a call with. */
const ERROR_KEY = "dev.pml/error";

/** Turns a refusal of PML itself into an answer; everything else stays as it is. */
export function toRefusal(error: unknown): CallResult {
  const known = withoutDatabaseText(error);
  if (known instanceof PmlError) return toToolError(known);
  throw error;
}

/** A tool call that could not be made is an answer the model can read; only protocol errors stay errors. */
export function toToolError(thrown: unknown): CallResult {
  const error = withoutDatabaseText(thrown);
  if (error instanceof ProtocolError || (error instanceof Error && error.name === "AbortError")) throw error;
  if (error instanceof PmlError) {
    const report = toErrorReport(error);
    const text = [report.message, ...(report.hint === undefined ? [] : [report.hint])].join(". ");
    return { content: [{ type: "text", text }], isError: true, _meta: { [ERROR_KEY]: report } };
  }
  return { content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }], isError: true };
}
