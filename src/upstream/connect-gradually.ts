import { availableParallelism } from "node:os";

/** A server that takes longer connects on its own and does not delay the next. */
const PATIENCE_MS = 3_000;

/** Connects a few servers at a time: starting all processes at once would delay the lists of the first clients. */
export async function connectGradually(servers: readonly { connect(): Promise<unknown> }[]): Promise<void> {
  const left = [...servers];
  const connectNext = async (): Promise<void> => {
    for (let server = left.shift(); server !== undefined; server = left.shift()) {
      const connected = server.connect().catch(() => undefined); // the status has the error
      await Promise.race([connected, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, connectNext));
}
