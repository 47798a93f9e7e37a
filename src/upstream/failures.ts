import { SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";

/** The server cannot be reached now; the message says why and since when. */
export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
}

/** The server refused a request for its session, as after a restart. It was not acted on, so it may be made again. */
export class SessionGone extends ServerUnavailable {
  constructor(server: string, cause: unknown) {
    super(`Server ${server} refused the request: ${innermostMessage(cause)}`, { cause });
  }
}

/** Whoever made the call does not want its outcome any more. */
export class Cancelled extends Error {
  override readonly name = "AbortError";

  constructor(server: string, method: string) {
    super(`${method} of server ${server} was cancelled`);
  }
}

export interface FailedCall {
  readonly method: string;
  /** What the server asked during the call. */
  readonly question: string | undefined;
  readonly limitMs: number;
}

export class CallTimeout extends Error {
  override readonly name = "CallTimeout";

  constructor(server: string, { method, question, limitMs }: FailedCall) {
    const waiting = question === undefined ? "" : ` (while waiting for: ${question})`;
    super(
      `Server ${server} did not answer ${method} within ${formatSeconds(limitMs)}${waiting}. The call was cancelled; its outcome is not known. A longer limit: "timeout" of the server, in seconds`,
    );
  }
}

/** What is known of a server that could not be started or reached. */
export interface StartFailure {
  readonly error: unknown;
  /** How its process ended, if it has one and it did. */
  readonly exit: string | undefined;
  /** The last thing it wrote to its output that was no message. */
  readonly noise: string | undefined;
  readonly limitMs: number;
}

const LONGEST_QUOTE = 120;

/** How a process ended says more than that the connection closed; silence is explained by noise, if at all. */
export function describeStartFailure({ error, exit, noise, limitMs }: StartFailure): string {
  const heard =
    noise === undefined ? "" : `; it wrote "${noise.slice(0, LONGEST_QUOTE)}" to its output, which is no message`;
  if (findHttpStatus(error) === 401) return "it does not accept who calls it (401)";
  if (isTimeout(error)) return `it did not answer within ${formatSeconds(limitMs)}${heard}`;
  return `${exit ?? (isUnreachable(error) ? innermostMessage(error) : describe(error))}${heard}`;
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

/** The HTTP status with which a remote server refused a request, however the SDK wrapped that. */
export function findHttpStatus(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  return error instanceof Error && error.cause !== undefined ? findHttpStatus(error.cause) : undefined;
}

/** fetch reports every failure to reach a server in this one way. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return error.message === "fetch failed";
  return error instanceof Error && error.cause !== undefined && isUnreachable(error.cause);
}

/** What fetch says of itself is always the same; why it failed is in its cause. */
export function innermostMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? innermostMessage(error.cause) : error.message;
}

function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
