import { type Client, type Progress, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { anyResult } from "./passthrough.ts";

interface Request {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export interface SendOptions {
  /** Longest silence of the server; progress restarts it. */
  readonly timeout: number;
  /** Longest duration of the request, with or without progress. */
  readonly maxTotalTimeout: number;
  readonly signal?: AbortSignal;
  readonly onprogress: (progress: Progress) => void;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends a request and returns its result unparsed. Cancels it at the server beyond `maxTotalTimeout`: the SDK's option of
 * that name only rejects, and the server would work on.
 */
export async function sendRequest(
  client: Client,
  request: Request,
  { maxTotalTimeout, signal, onprogress, ...options }: SendOptions,
): Promise<Record<string, unknown>> {
  const deadline = performance.now() + maxTotalTimeout;
  const overdue = new AbortController();
  return client.request(request, anyResult, {
    ...options,
    resetTimeoutOnProgress: true,
    allowInputRequired: true,
    signal: signal === undefined ? overdue.signal : AbortSignal.any([signal, overdue.signal]),
    onprogress: (progress) => {
      if (performance.now() < deadline) onprogress(progress);
      else overdue.abort(new SdkError(SdkErrorCode.RequestTimeout, "Maximum total timeout exceeded"));
    },
  });
}
