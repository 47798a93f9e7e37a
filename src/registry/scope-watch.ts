import type { DatabaseClient } from "../db/client.ts";
import type { Scope } from "./scope.ts";
import { readScopeVersions, SCOPE_CHANNEL } from "./scope-version-store.ts";

export interface ScopeWatchOptions {
  readonly client: DatabaseClient;
  readonly onChange: (scope: Scope) => void;
  readonly onError: (error: unknown) => void;
  readonly pollMs?: number;
}

const POLL_MS = 3_000;

/**
 * Reports every scope whose definitions changed, on this gateway or another one. Polls the version rows; a
 * notification only triggers the poll early.
 */
export async function watchScopes(options: ScopeWatchOptions): Promise<AsyncDisposable> {
  const { client, onChange, onError, pollMs = POLL_MS } = options;
  const seen = new Map(await readVersions(client));
  let reading = Promise.resolve();

  const look = (): void => {
    reading = reading.then(compare).catch(onError);
  };
  const compare = async (): Promise<void> => {
    for (const [key, version] of await readVersions(client)) {
      if (seen.get(key) === version) continue;
      seen.set(key, version);
      onChange(JSON.parse(key) as Scope);
    }
  };

  const listening = await client.listen(SCOPE_CHANNEL, { onNotification: look, onReconnect: look });
  const timer = setInterval(look, pollMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await listening.close();
      await reading;
    },
  };
}

async function readVersions({ db }: DatabaseClient): Promise<[string, number][]> {
  const rows = await readScopeVersions(db);
  return rows.map(({ org, project, version }) => [JSON.stringify({ org, project }), version]);
}
