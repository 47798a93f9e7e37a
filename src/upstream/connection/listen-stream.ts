import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  type McpSubscription,
  ProtocolError,
  type SubscriptionFilter,
} from "@modelcontextprotocol/client";
import { retryDelay } from "./retry-plan.ts";

const LISTEN_MS = 5_000;
/** A stream that lasted this long resets the delay. */
const STEADY_MS = 10_000;

/**
 * Listens for changes, and listens again when the stream breaks or the server ends it. Rejects if the server refuses the
 * first stream. Returns a function that stops it.
 *
 * `onReopened` is called because changes may have been missed.
 */
export async function keepListening(
  client: Client,
  filter: SubscriptionFilter,
  onReopened: () => void,
): Promise<() => Promise<void>> {
  const ended = new AbortController();
  let current = await client.listen(filter, { timeout: LISTEN_MS });
  const run = async (): Promise<void> => {
    let failures = 0;
    for (;;) {
      const since = Date.now();
      const reason = await current.closed;
      if (reason === "local" || ended.signal.aborted) return;
      failures = Date.now() - since >= STEADY_MS ? 1 : failures + 1;
      const next = await reopen(client, filter, { failures, signal: ended.signal });
      if (next === undefined) return;
      current = next;
      onReopened();
    }
  };
  void run();
  return () => {
    ended.abort();
    return current.close();
  };
}

interface Attempt {
  failures: number;
  readonly signal: AbortSignal;
}

async function reopen(
  client: Client,
  filter: SubscriptionFilter,
  { failures, signal }: Attempt,
): Promise<McpSubscription | undefined> {
  for (let failed = failures; ; failed += 1) {
    await sleep(retryDelay(failed), undefined, { ref: false, signal }).catch(() => undefined);
    // A lost connection is replaced as a whole, with its streams.
    if (signal.aborted || client.transport === undefined) return undefined;
    try {
      return await client.listen(filter, { timeout: LISTEN_MS, signal });
    } catch (error) {
      if (error instanceof ProtocolError) return undefined; // the server refuses further streams
    }
  }
}
