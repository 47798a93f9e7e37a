import pg from "pg";
import type { Listening, ListenHandlers } from "./client.ts";

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;

/**
 * Listens on a connection of its own, since notifications belong to a session, and comes back after
 * every break. What was notified during a break is gone, which is why `onReconnect` exists.
 */
export async function listenWithReconnect(
  connection: pg.ClientConfig,
  channel: string,
  handlers: ListenHandlers,
): Promise<Listening> {
  let stopped = false;
  const isStopped = (): boolean => stopped;
  let current = await connect();

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...connection, keepAlive: true });
    client.on("error", () => undefined); // the end event follows and is what counts
    client.on("notification", ({ payload }) => handlers.onNotification(payload ?? ""));
    await client.connect();
    try {
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    client.on("end", () => void comeBack(FIRST_DELAY_MS));
    handlers.onReconnect();
    return client;
  }

  async function comeBack(delay: number): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, delay * (0.5 + Math.random())).unref());
    if (isStopped()) return;
    try {
      current = await connect();
      if (isStopped()) await current.end();
    } catch {
      // still down: try again, later each time
      await comeBack(Math.min(delay * 2, LONGEST_DELAY_MS));
    }
  }

  return {
    async close() {
      stopped = true;
      await current.end();
    },
  };
}
