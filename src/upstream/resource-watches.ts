import type { Client } from "@modelcontextprotocol/client";
import { keepListening } from "./connection/listen-stream.ts";
import { anyResult } from "./connection/passthrough.ts";

type Stop = () => Promise<unknown>;

interface Watch {
  watchers: number;
  started: Promise<Stop>;
}

/** Watched resources of one server; several watchers share one subscription. */
export class ResourceWatches {
  readonly #watches = new Map<string, Watch>();
  readonly #onMissed: (uri: string) => void;

  /** `onMissed` is called with resources that may have changed while the server was away. */
  constructor(onMissed: (uri: string) => void) {
    this.#onMissed = onMissed;
  }

  /** Resolves after the server subscribed. The last watcher's disposal unsubscribes. */
  async add(uri: string, client: Client): Promise<AsyncDisposable> {
    const watch = this.#watches.get(uri) ?? { watchers: 0, started: this.#start(client, uri) };
    this.#watches.set(uri, watch);
    watch.watchers += 1;
    try {
      await watch.started;
    } catch (error) {
      if (this.#watches.get(uri) === watch) this.#watches.delete(uri);
      throw error;
    }
    let ended = false;
    return {
      [Symbol.asyncDispose]: async () => {
        if (!ended) await this.#leave(uri, watch);
        ended = true;
      },
    };
  }

  /** Subscribes again after a restart of the server. */
  async restore(client: Client): Promise<void> {
    for (const [uri, watch] of this.#watches) {
      watch.started = this.#start(client, uri);
      await watch.started.catch(() => undefined); // the resource may be gone; the server is usable
      this.#onMissed(uri);
    }
  }

  #start(client: Client, uri: string): Promise<Stop> {
    return startWatch(client, uri, () => this.#onMissed(uri));
  }

  async #leave(uri: string, watch: Watch): Promise<void> {
    watch.watchers -= 1;
    if (watch.watchers > 0) return;
    if (this.#watches.get(uri) === watch) this.#watches.delete(uri);
    const stop = await watch.started.catch(() => undefined); // it failed, so there is nothing to stop
    await stop?.().catch(() => undefined); // the connection ended, and the subscription with it
  }
}

async function startWatch(client: Client, uri: string, onMissed: () => void): Promise<Stop> {
  if (client.getProtocolEra() === "modern") return keepListening(client, { resourceSubscriptions: [uri] }, onMissed);
  await client.request({ method: "resources/subscribe", params: { uri } }, anyResult);
  return () => client.request({ method: "resources/unsubscribe", params: { uri } }, anyResult);
}
