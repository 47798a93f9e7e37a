import { expect, test } from "vitest";
import { collectGarbage } from "./collect-garbage.ts";

test("what nothing refers to is gone afterwards", () => {
  const kept = [{ kept: true }];
  const gone = ((): WeakRef<object> => new WeakRef(Array.from({ length: 1000 }, (_, at) => ({ at }))))();
  const still = new WeakRef(kept);
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    collectGarbage();
    expect(gone.deref()).toBeUndefined();
    expect(still.deref()).toBe(kept);
    expect("gc" in globalThis).toBe(false);
  });
});
