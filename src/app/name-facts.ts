import type { Catalogue } from "../catalogue/catalogue.ts";
import type { usageFacts } from "../contract/introspection.ts";
import type { Sent } from "../contract/wire.ts";
import type { ListedCapability, ListingChoice } from "../registry/listed-capability.ts";
import { listNamed } from "../registry/listed-store.ts";
import { countCapabilities } from "../registry/query-store.ts";
import type { Asker } from "../registry/scope.ts";
import type { Db } from "../db/client.ts";
import type { Effect } from "../permissions/effect.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { readToolFigures } from "../gateway/usage/usage-stats-store.ts";

/** Capabilities and figures of their use, for lists and statistics. */
export interface NameFacts {
  listed(asker: Asker, choice: ListingChoice): Promise<readonly ListedCapability[]>;
  /** Keyed by tool; unknown tools are absent. */
  effects(tools: readonly string[]): Promise<ReadonlyMap<string, Effect>>;
  stats(asker: Asker, since: Date): Promise<Sent<typeof usageFacts>>;
}

export interface NameFactsParts {
  readonly db: Db;
  readonly tools: Catalogue;
  readonly permissions: Permissions;
}

export function createNameFacts({ db, tools, permissions }: NameFactsParts): NameFacts {
  return {
    listed: (asker, choice) => listNamed(db, asker, choice),
    async effects(ids) {
      const verdicts = ids.flatMap((id) => {
        const tool = tools.findById(id);
        if (tool === undefined) return [];
        return [permissions.decideTool({ id, schemaHash: tool.contentHash, annotations: tool.annotations })];
      });
      return new Map(verdicts.map(({ tool, effect }) => [tool, effect]));
    },
    async stats(asker, since) {
      const figures = await readToolFigures(db, asker, since);
      return {
        capabilities: await countCapabilities(db, asker),
        tools: figures.map(({ server, tool, calls, successes, averageMs, lastAt }) => ({
          server,
          tool,
          calls,
          success_rate: successes / calls,
          avg_latency_ms: averageMs,
          last_at: lastAt.toISOString(),
        })),
      };
    },
  };
}
