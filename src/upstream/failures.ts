import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";

/** The server cannot be reached now; the message says why and since when. */
export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
}

/** Whoever made the call does not want its outcome any more. */
export class Cancelled extends Error {
  override readonly name = "AbortError";

  constructor(server: string, method: string) {
    super(`${method} of server ${server} was cancelled`);
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
  if (isTimeout(error)) return `it did not answer within ${formatSeconds(limitMs)}${heard}`;
  return `${exit ?? describe(error)}${heard}`;
}

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

export function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
