import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { beforeAll, expect, test } from "vitest";
import { collectGarbage, collectWhenIdle } from "./collect-garbage.ts";

beforeAll(() => setFlagsFromString("--expose-gc"));

/** Creates garbage that survived a while, so that collections of young objects leave it alone. */
async function makeOldGarbage(): Promise<WeakRef<object>> {
  const held = Array.from({ length: 1000 }, (_, at) => ({ at }));
  const reference = new WeakRef(held);
  await sleep(0);
  collectGarbage("regular");
  expect(held).toHaveLength(1000);
  return reference;
}

test("collectGarbage frees unreferenced objects and keeps the others", async () => {
  const kept = [{ kept: true }];
  const still = new WeakRef(kept);
  const gone = await makeOldGarbage();
  await sleep(0); // a WeakRef holds its target until the current job ends
  collectGarbage("regular");
  expect(gone.deref()).toBeUndefined();
  expect(still.deref()).toBe(kept);
});

test("collectWhenIdle collects in an idle thread", async () => {
  const garbage = await makeOldGarbage();
  using _collector = collectWhenIdle(20);
  await sleep(400); // not polled: each look at a WeakRef keeps its target alive
  expect(garbage.deref()).toBeUndefined();
});
