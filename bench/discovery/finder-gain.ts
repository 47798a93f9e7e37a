import type { SearchDocument } from "../../src/discovery/search.ts";
import type { BenchSession } from "../support/benchmark.ts";
import type { Dataset } from "./dataset.ts";
import { recordGain } from "./gain.ts";
import { measureList, type Quality } from "./metrics.ts";
import { type DiscoveryScene, embedAll, withoutDispose } from "./scene.ts";

/**
 * Measures the gain from prerequisites, which the index infers from ids. The baseline renames ids to keys, which no
 * query mentions.
 */
export async function measureFinders(session: BenchSession, scene: DiscoveryScene, dataset: Dataset): Promise<void> {
  session.progress(`needed first: ${dataset.name}`);
  const asked = { without: [] as Quality[], with: [] as Quality[] };
  for (const column of ["without", "with"] as const) {
    const documents = column === "with" ? dataset.documents : dataset.documents.map(withoutIds);
    await using discovery = scene.createDiscovery(documents, withoutDispose(scene.model));
    const viewer = { scope: { org: "bench", project: `finders ${dataset.name} ${column}` }, principal: undefined };
    await embedAll(discovery, viewer, session.signal);
    for (const query of dataset.queries) {
      const { ranked } = await discovery.search(viewer, query.text, { limit: 10 });
      const ids = ranked.map(({ document }) => document.id);
      asked[column].push(measureList(ids, query));
    }
  }
  recordGain(session, `needed first, ${dataset.name}`, asked);
}

function withoutIds(document: SearchDocument): SearchDocument {
  const parameters = document.parameters.map((each) => ({ ...each, name: callKey(each.name) }));
  return { ...document, parameters, name: document.name.replace(/\{[^{}]*\}/g, callKey) };
}

function callKey(name: string): string {
  return name.replace(/(?<![A-Za-z])id(?=s?(?![a-z]))|I[dD](?=s?(?![a-z]))/g, "key");
}
