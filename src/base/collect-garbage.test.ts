import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectGarbage, collectWhenQuiet } from "./collect-garbage.ts";

/** Something that lasted for a while, so that the collections of young objects leave it alone, and that nothing refers to any more. */
async function makeOldGarbage(): Promise<WeakRef<object>> {
  const held = Array.from({ length: 1000 }, (_, at) => ({ at }));
  const reference = new WeakRef(held);
  await sleep(0);
  collectGarbage("regular");
  expect(held).toHaveLength(1000);
  return reference;
}

function workFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("what nothing refers to is gone afterwards", async () => {
  const kept = [{ kept: true }];
  const still = new WeakRef(kept);
  const gone = await makeOldGarbage();
  await sleep(0); // until then a reference is kept by whoever made it
  collectGarbage("regular");
  expect(gone.deref()).toBeUndefined();
  expect(still.deref()).toBe(kept);
  expect("gc" in globalThis).toBe(false);
});

test("a thread that has little to do is collected, one that works is not", async () => {
  const garbage = await makeOldGarbage();
  const everyMs = 100;
  using _quiet = collectWhenQuiet(everyMs);
  for (let round = 0; round < 6; round += 1) {
    workFor(everyMs / 2);
    await sleep(0);
  }
  expect(garbage.deref()).toBeDefined();
  await sleep(everyMs * 4);
  expect(garbage.deref()).toBeUndefined();
  const little = await makeOldGarbage();
  await sleep(everyMs * 4);
  expect(little.deref()).toBeDefined(); // not worth it
});
