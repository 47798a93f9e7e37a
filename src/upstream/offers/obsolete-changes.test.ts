import { expect, test } from "vitest";
import { Random } from "../../../test/support/random.ts";
import type { EffectClaims } from "../../permissions/effect.ts";
import { findObsolete } from "./obsolete-changes.ts";
import { findLowered } from "./lowered-effect.ts";
import { decideChange, type StoredChange } from "./review-store.ts";

const CLAIMS: readonly (EffectClaims | null)[] = [
  null,
  { readOnlyHint: true },
  { destructiveHint: false },
  { destructiveHint: false, idempotentHint: true },
];

/** A history as a server, a policy and people may write it (only people refuse), each change from the definition before. */
function makeHistory(random: Random, length: number): StoredChange[] {
  const hashes = Array.from({ length: length + 1 }, () => `h${random.between(0, 30)}`);
  const claims = hashes.map(() => random.pick(CLAIMS));
  return Array.from({ length }, (_, index) => {
    const byPerson = random.chance(5);
    const verdict = byPerson ? random.pick(["accepted", "refused"] as const) : random.pick(["accepted", null] as const);
    return {
      id: `c${index}`,
      hashBefore: hashes[index] ?? "",
      hash: hashes[index + 1] ?? "",
      before: claims[index] ?? null,
      after: claims[index + 1] ?? null,
      verdict,
      byPerson,
    };
  });
}

test("findObsolete leaves the effect, the decisions of people and the first definition as they were", () => {
  const random = new Random(7);
  for (let round = 0; round < 2_000; round += 1) {
    const whole = makeHistory(random, random.between(1, 60));
    const obsolete = new Set(findObsolete(whole));
    const kept = whole.filter(({ id }) => !obsolete.has(id));
    expect(findLowered(kept)).toEqual(findLowered(whole));
    expect([kept[0], kept.at(-1)]).toEqual([whole[0], whole.at(-1)]);
    expect(kept.findLast(({ verdict }) => verdict === "accepted")).toBe(
      whole.findLast(({ verdict }) => verdict === "accepted"),
    );
    const [next] = makeHistory(random, 1);
    if (next === undefined) continue;
    const [before, after] = [decideChange(whole, next, false), decideChange(kept, next, false)];
    // Less history may ask a person again, and never decides otherwise.
    expect([before, null]).toContain(after);
    expect(kept.filter(({ byPerson }) => !byPerson).length).toBeLessThanOrEqual(10);
  }
});

test("findObsolete keeps ten changes of a tool as they are", () => {
  expect(findObsolete(makeHistory(new Random(1), 10))).toEqual([]);
});
