import type { FetchLike } from "@modelcontextprotocol/client";
import { describeExcess, MessageScan } from "../../base/message-scan.ts";

/** Fails the body of a response whose messages are too large, before the SDK parses them. */
export function limitMessages(fetchLike: FetchLike, maxBytes: number): FetchLike {
  return async (input, init) => {
    const response = await fetchLike(input, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const events = headers.get("content-type")?.includes("text/event-stream") ?? false;
    const limited = new Response(body.pipeThrough(createLimit(maxBytes, events)), { status, statusText, headers });
    // The SDK reads the final address after redirects.
    Object.defineProperties(limited, { url: { value: response.url }, redirected: { value: response.redirected } });
    return limited;
  };
}

function createLimit(maxBytes: number, events: boolean): TransformStream<Uint8Array, Uint8Array> {
  const scan = new MessageScan({ maxBytes }, { events });
  return new TransformStream({
    transform(piece, controller) {
      const excess = scan.push(piece);
      if (excess === undefined) controller.enqueue(piece);
      else {
        const limit = `${maxBytes} bytes (upstream.maxMessageBytes)`;
        controller.error(new Error(`A message of the server ${describeExcess(excess, limit)}`));
      }
    },
  });
}
