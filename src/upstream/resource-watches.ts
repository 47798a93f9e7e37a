import type { Client } from "@modelcontextprotocol/client";
import { keepListening } from "./connection/listen-stream.ts";
import { anyResult } from "./connection/passthrough.ts";

type Stop = () => Promise<unknown>;

interface Watch {
  watchers: number;
  started: Promise<Stop>;
}

/** The resources of one server that somebody watches. However many they are, the server is asked once. */
export class ResourceWatches {
  readonly #watches = new Map<string, Watch>();
  readonly #onMissed: (uri: string) => void;

  /** `onMissed` is told of resources that may have changed while the server could not say so. */
  constructor(onMissed: (uri: string) => void) {
    this.#onMissed = onMissed;
  }

  /** Resolves when the server agreed. Disposing of the result by the last watcher ends the watch. */
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

  /** A server that was started anew knows nothing of what was watched before. */
  async restore(client: Client): Promise<void> {
    for (const [uri, watch] of this.#watches) {
      watch.started = this.#start(client, uri);
      await watch.started.catch(() => undefined); // it may be gone now; the server is there nevertheless
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
    const stop = await watch.started.catch(() => undefined); // then there is nothing to stop
    await stop?.().catch(() => undefined); // the connection is gone, and the watch with it
  }
}

async function startWatch(client: Client, uri: string, onMissed: () => void): Promise<Stop> {
  if (client.getProtocolEra() === "modern") return keepListening(client, { resourceSubscriptions: [uri] }, onMissed);
  await client.request({ method: "resources/subscribe", params: { uri } }, anyResult);
  return () => client.request({ method: "resources/unsubscribe", params: { uri } }, anyResult);
}
