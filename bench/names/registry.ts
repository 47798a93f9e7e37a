import { CapabilityRegistry } from "../../src/registry/capability-registry.ts";
import { RECORD_SORTS } from "../../src/registry/record-words.ts";
import type { RecordQuery } from "../../src/registry/registry.ts";
import { DEFAULT_SCOPE, OWNER } from "../../src/registry/scope.ts";
import type { Db } from "../../src/db/client.ts";
import type { Goal, BenchSession } from "../support/benchmark.ts";
import { timeEach } from "../support/interleave.ts";
import { percentile } from "../support/statistics.ts";

const asker = { scope: DEFAULT_SCOPE, principal: OWNER };
const CACHED_NAMES = 1_000;
const CACHED_ROUNDS = 20;
const MISSES = 300;
const PAGES = 60;
const COUNTS = 5;
export const PAGE: Goal = { atMost: 20 };

export interface MeasuredRegistry {
  readonly column: string;
  readonly db: Db;
  readonly count: number;
}

type RecordTimes = (what: string, unit: string, values: readonly number[], goal?: Goal) => void;

/** Records median and 95th percentile of one operation. */
export function recordTimes(session: BenchSession, column: string, count: number): RecordTimes {
  return (what, unit, values, goal) => {
    const row = `${count}: ${what}`;
    session.record({ row: `${row}, p50`, unit, column, value: percentile(values, 0.5) });
    session.record({
      row: `${row}, p95`,
      unit,
      column,
      value: percentile(values, 0.95),
      ...(goal === undefined ? {} : { goal }),
    });
  };
}

/** Measures the registry itself, in this process. */
export async function measureRegistry(session: BenchSession, { column, db, count }: MeasuredRegistry): Promise<void> {
  const registry = new CapabilityRegistry({
    db,
    policy: () => ({ strict: false, reserveDays: 30 }),
    prepare: () => {
      throw new Error("nothing is saved here");
    },
  });
  const record = recordTimes(session, column, count);
  const number = (): number => 1 + Math.floor(Math.random() * count);
  for (const [what, prefix] of [
    ["name, not cached", "fs:action_"],
    ["former name, not cached", "cap:fs:old_"],
  ] as const) {
    const misses = await timeEach(MISSES, () => registry.resolve(asker, `${prefix}${number()}`));
    record(what, "ms", misses, { atMost: 10 });
  }
  record("name, cached", "µs", await timeCached(registry, number), { atMost: 5 });
  for (const sortBy of RECORD_SORTS) {
    record(`page of 20 by ${sortBy}`, "ms", await timePages(registry, { sortBy, namedOnly: true, limit: 20 }), PAGE);
  }
  const counted = await timeEach(COUNTS, async () => {
    registry.forget();
    await registry.list(asker, { limit: 20 });
  });
  record("first page after a change, with the count", "ms", counted);
}

async function timeCached(registry: CapabilityRegistry, number: () => number): Promise<number[]> {
  const known = Array.from({ length: CACHED_NAMES }, () => `fs:action_${number()}`);
  for (const name of known) await registry.resolve(asker, name);
  let next = 0;
  const each = await timeEach(CACHED_ROUNDS * CACHED_NAMES, () =>
    registry.resolve(asker, known[next++ % CACHED_NAMES] ?? ""),
  );
  return each.map((ms) => ms * 1000);
}

function timePages(registry: CapabilityRegistry, query: RecordQuery): Promise<number[]> {
  let cursor: string | undefined;
  return timeEach(PAGES, async () => {
    const page = await registry.list(asker, { ...query, ...(cursor === undefined ? {} : { cursor }) });
    cursor = page.nextCursor;
  });
}
