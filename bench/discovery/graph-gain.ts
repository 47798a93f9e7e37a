import type { Scope } from "../../src/registry/scope.ts";
import { Random } from "../../test/support/random.ts";
import type { BenchSession } from "../support/benchmark.ts";
import type { Dataset, DatasetQuery } from "./dataset.ts";
import { recordGain } from "./gain.ts";
import { measureList, type Quality } from "./metrics.ts";
import { sample } from "./nearness.ts";
import { type DiscoveryScene, embedAll, withoutDispose } from "./scene.ts";

const SEED = 7;

/** Stores half of the queries as runs over their tools, in order, and asks the other half; then swaps the halves. */
export async function measureGraph(session: BenchSession, scene: DiscoveryScene, dataset: Dataset): Promise<void> {
  session.progress(`graph: ${dataset.name}`);
  const mixed = sample(dataset.queries, dataset.queries.length, new Random(SEED));
  const halves = [mixed.filter((_, at) => at % 2 === 0), mixed.filter((_, at) => at % 2 === 1)] as const;
  const asked: Record<"without" | "with", Quality[]> = { without: [], with: [] };
  for (const [half, other] of [halves, halves.toReversed()] as (readonly [
    readonly DatasetQuery[],
    readonly DatasetQuery[],
  ])[]) {
    for (const column of ["without", "with"] as const) {
      const scope: Scope = { org: "bench", project: `graph ${dataset.name} ${asked[column].length} ${column}` };
      await storeRuns(scene, scope, { runs: half, connected: column === "with" });
      await using discovery = scene.createDiscovery(dataset.documents, withoutDispose(scene.model));
      const viewer = { scope, principal: undefined };
      await embedAll(discovery, viewer, session.signal);
      for (const query of other) {
        const { ranked } = await discovery.search(viewer, query.text, { limit: 10 });
        const ids = ranked.map(({ document }) => document.id);
        asked[column].push(measureList(ids, query));
      }
    }
  }
  recordGain(session, `used together, ${dataset.name}`, asked);
}

interface Runs {
  readonly runs: readonly DatasetQuery[];
  readonly connected: boolean;
}

/** Counts uses in both cases, so that only the edges make a difference. */
async function storeRuns({ client: { db } }: DiscoveryScene, scope: Scope, { runs, connected }: Runs): Promise<void> {
  const uses = new Map<string, number>();
  const edges = new Map<string, { readonly from: string; readonly to: string; count: number }>();
  for (const { relevant } of runs) {
    for (const [at, id] of relevant.entries()) {
      uses.set(id, (uses.get(id) ?? 0) + 1);
      const next = relevant[at + 1];
      if (next === undefined || next === id) continue;
      const key = JSON.stringify([id, next]);
      const known = edges.get(key) ?? { from: id, to: next, count: 0 };
      known.count += 1;
      edges.set(key, known);
    }
  }
  const tallies = [...uses].map(([subject, count]) => ({ ...scope, subject, tag: "", uses: count, successes: count }));
  await db.insertInto("discovery_tally").values(tallies).execute();
  if (!connected || edges.size === 0) return;
  const observed = { ...scope, edge_type: "sequence", source: "observed" } as const;
  const rows = [...edges.values()].map(({ from, to, count }) => ({
    ...observed,
    from_id: from,
    to_id: to,
    observed_count: count,
  }));
  await db.insertInto("tool_edge").values(rows).execute();
}
