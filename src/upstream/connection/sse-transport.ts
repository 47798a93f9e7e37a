import {
  SdkError,
  SdkErrorCode,
  SSEClientTransport,
  type SSEClientTransportOptions,
} from "@modelcontextprotocol/client";

/**
 * The SDK's transport for servers of before Streamable HTTP, with a start that ends: the SDK waits for the server's
 * first event however long that takes, and also when the transport has been closed meanwhile.
 */
export class SseTransport extends SSEClientTransport {
  readonly #startMs: number;
  readonly #closed = Promise.withResolvers<never>();

  constructor(url: URL, options: SSEClientTransportOptions, startMs: number) {
    super(url, options);
    this.#startMs = startMs;
    this.#closed.promise.catch(() => undefined); // of interest during a start only
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
