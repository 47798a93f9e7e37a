import { afterAll, describe, expect, test } from "vitest";
import { Targets } from "../support/attack.ts";
import { HOSTILE_KINDS, makeHostile } from "../support/hostile-inputs.ts";
import { Random } from "../support/random.ts";

/** A sample of `npm run bench budgets`, which also measures how long each input holds the serving thread. */
describe("hostile input", () => {
  const targets = new Targets({ maxMillis: 2_000, maxHeapMb: 256 });
  afterAll(() => targets[Symbol.asyncDispose]());

  test.each(HOSTILE_KINDS)("C2, H5: every %s is answered, refused or stopped by a limit with a name", async (kind) => {
    const random = new Random(7);
    const endings = new Set<string>();
    for (let at = 0; at < 15; at += 1)
      endings.add((await targets.meet(makeHostile(kind, random))).split(" ", 1)[0] ?? "");
    expect([...endings].filter((ending) => !["done", "refused", "limit"].includes(ending))).toEqual([]);
  });
});
