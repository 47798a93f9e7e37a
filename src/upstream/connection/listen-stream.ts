import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  type McpSubscription,
  ProtocolError,
  type SubscriptionFilter,
} from "@modelcontextprotocol/client";
import { retryDelay } from "./retry-plan.ts";

const LISTEN_MS = 5_000;
/** A stream that lasted this long ended for a reason that need not be there again. */
const STEADY_MS = 10_000;

/**
 * Listens for changes and goes on doing so when the stream breaks off or the server ends it. Rejects
 * when the server does not let us listen to begin with. Returns what ends it.
 *
 * `onReopened`: something may have changed while nobody listened.
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
    // A connection that was given up is replaced as a whole, with what is listened to.
    if (signal.aborted || client.transport === undefined) return undefined;
    try {
      return await client.listen(filter, { timeout: LISTEN_MS, signal });
    } catch (error) {
      if (error instanceof ProtocolError) return undefined; // it does not want to be listened to any more
    }
  }
}
