import { availableParallelism } from "node:os";

/** One that takes longer goes on by itself and does not hold up the next. */
const PATIENCE_MS = 3_000;

/** A few at a time: processes that all start at once would keep the first clients waiting for their lists. */
export async function connectGradually(servers: readonly { connect(): Promise<unknown> }[]): Promise<void> {
  const left = [...servers];
  const connectNext = async (): Promise<void> => {
    for (let server = left.shift(); server !== undefined; server = left.shift()) {
      const connected = server.connect().catch(() => undefined); // it is in the server's status
      await Promise.race([connected, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, connectNext));
}
