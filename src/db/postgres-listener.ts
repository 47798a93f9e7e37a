import pg from "pg";
import type { ListenHandle, ListenHandlers } from "./client.ts";

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;

/**
 * Listens on its own connection, because notifications belong to a session, and reconnects after every break.
 * Notifications during a break are lost, which is why `onReconnect` exists.
 */
export async function listenWithReconnect(
  connection: pg.ClientConfig,
  channel: string,
  handlers: ListenHandlers,
): Promise<ListenHandle> {
  let stopped = false;
  const isStopped = (): boolean => stopped;
  let current = await connect();

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...connection, keepAlive: true });
    client.on("error", () => undefined); // the end event follows and is handled
    client.on("notification", ({ payload }) => handlers.onNotification(payload ?? ""));
    await client.connect();
    try {
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    client.on("end", () => void reconnect(FIRST_DELAY_MS));
    handlers.onReconnect();
    return client;
  }

  async function reconnect(delay: number): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, delay * (0.5 + Math.random())).unref());
    if (isStopped()) return;
    try {
      current = await connect();
      if (isStopped()) await current.end();
    } catch {
      // Still down: backs off.
      await reconnect(Math.min(delay * 2, MAX_DELAY_MS));
    }
  }

  return {
    async close() {
      stopped = true;
      await current.end();
    },
  };
}
