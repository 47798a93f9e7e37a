import { SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";

/** Thrown when the server cannot be reached; the message has the reason and the time. */
export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
}

/** Thrown when the server refused a request because of its session, for example after a restart. The request had no effect and may be repeated. */
export class SessionGone extends ServerUnavailable {
  constructor(server: string, cause: unknown) {
    super(`Server ${server} refused the request: ${innermostMessage(cause)}`, { cause });
  }
}

/** Thrown when the caller cancelled the call. */
export class Cancelled extends Error {
  override readonly name = "AbortError";

  constructor(server: string, method: string) {
    super(`${method} of server ${server} was cancelled`);
  }
}

export interface FailedCall {
  readonly method: string;
  /** The server's question during the call. */
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

/** Facts about a failed start or connection. */
export interface StartFailure {
  readonly error: unknown;
  /** How the process exited, if it did. */
  readonly exit: string | undefined;
  /** The last line of its output that was not a message. */
  readonly noise: string | undefined;
  readonly limitMs: number;
}

const LONGEST_QUOTE = 120;

/** Describes a failed start. Prefers the exit of the process over the closed connection, and quotes output that was not a message. */
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

/** Finds the HTTP status in an error, however the SDK wrapped it. */
export function findHttpStatus(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  return error instanceof Error && error.cause !== undefined ? findHttpStatus(error.cause) : undefined;
}

/** True for the one error with which fetch reports an unreachable server. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return error.message === "fetch failed";
  return error instanceof Error && error.cause !== undefined && isUnreachable(error.cause);
}

/** Returns the message of the innermost cause: fetch's own message is always the same. */
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
