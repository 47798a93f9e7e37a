import type { Scope } from "../../src/registry/scope.ts";
import type { SearchDocument } from "../../src/discovery/search.ts";
import { Random } from "../../test/support/random.ts";
import type { BenchSession } from "../support/benchmark.ts";
import type { Dataset } from "./dataset.ts";
import { type DiscoveryScene, embedAll, withoutDispose } from "./scene.ts";

const SEED = 3;
const USES = 5;
/** Success rates of two tools with the same text, in percent. */
const RATES = [90, 40] as const;

interface Twins {
  readonly documents: readonly SearchDocument[];
  /** In percent, by id. */
  readonly rates: ReadonlyMap<string, number>;
}

/** Doubles every tool with the same text but a lower success rate, and measures how often the first result succeeds. */
export async function measureRecord(session: BenchSession, scene: DiscoveryScene, dataset: Dataset): Promise<void> {
  session.progress(`track record: ${dataset.name}`);
  const random = new Random(SEED);
  const { documents, rates } = makeTwins(dataset.documents, random);
  const row = `track record after ${USES} uses each, ${dataset.name}: the first result succeeds`;
  const reached = { without: 0, with: 0 };
  for (const column of ["without", "with"] as const) {
    const scope: Scope = { org: "bench", project: `record ${dataset.name} ${column}` };
    if (column === "with") await storeUses(scene, scope, { rates, random });
    await using discovery = scene.createDiscovery(documents, withoutDispose(scene.model));
    const viewer = { scope, principal: undefined };
    await embedAll(discovery, viewer, session.signal);
    for (const { text, relevant } of dataset.queries) {
      const { ranked } = await discovery.search(viewer, text, { limit: 1 });
      const first = ranked[0]?.document.id ?? "";
      reached[column] += relevant.includes(originalOf(first)) ? (rates.get(first) ?? 0) : 0;
    }
    reached[column] /= dataset.queries.length;
    session.record({ row, unit: "%", column, value: reached[column] });
  }
  session.record({ row, unit: "%", column: "gain", value: reached.with - reached.without, goal: { atLeast: 0 } });
}

const TWIN = "~";

function originalOf(id: string): string {
  return id.slice(0, id.lastIndexOf(TWIN));
}

/** Chooses the better twin at random: among equals the first id wins. */
function makeTwins(originals: readonly SearchDocument[], random: Random): Twins {
  const rates = new Map<string, number>();
  const documents = originals.flatMap((document) => {
    const [a, b] = random.chance(50) ? RATES : RATES.toReversed();
    return ["a", "b"].map((letter, at) => {
      const id = `${document.id}${TWIN}${letter}`;
      rates.set(id, at === 0 ? a : b);
      return { ...document, id };
    });
  });
  return { documents, rates };
}

async function storeUses(
  { client: { db } }: DiscoveryScene,
  scope: Scope,
  { rates, random }: { readonly rates: ReadonlyMap<string, number>; readonly random: Random },
): Promise<void> {
  const rows = [...rates].map(([subject, rate]) => {
    const successes = Array.from({ length: USES }, () => random.chance(rate)).filter(Boolean).length;
    return { ...scope, subject, tag: "", uses: USES, successes };
  });
  await db.insertInto("discovery_tally").values(rows).execute();
}
