import {
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  type SSEClientTransportOptions,
} from "@modelcontextprotocol/client";

/**
 * The SDK's transport for servers older than Streamable HTTP, with a bounded start: the SDK waits for the first event
 * without a limit, even after the transport was closed.
 */
export class SseTransport extends SSEClientTransport {
  readonly #startMs: number;
  readonly #closed = Promise.withResolvers<never>();

  constructor(url: URL, options: SSEClientTransportOptions, startMs: number) {
    super(url, options);
    this.#startMs = startMs;
    this.#closed.promise.catch(() => undefined); // only a start waits for it
  }

  override async start(): Promise<void> {
    const late = Promise.withResolvers<never>();
    const error = new SdkError(SdkErrorCode.RequestTimeout, "Request timed out", { timeout: this.#startMs });
    const timer = setTimeout(() => late.reject(error), this.#startMs);
    try {
      await Promise.race([super.start(), this.#closed.promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  override async close(): Promise<void> {
    this.#closed.reject(new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed"));
    await super.close();
  }
}
