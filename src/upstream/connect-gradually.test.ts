import { availableParallelism } from "node:os";
import { expect, test, vi } from "vitest";
import { connectGradually } from "./connect-gradually.ts";

test("connectGradually begins with a few, and goes on when one of them has ended, however that was", async () => {
  const places = availableParallelism();
  const begun: PromiseWithResolvers<void>[] = [];
  const server = {
    connect: () => {
      const attempt = Promise.withResolvers<void>();
      begun.push(attempt);
      return attempt.promise;
    },
  };
  const done = connectGradually(Array.from({ length: places + 2 }, () => server));
  expect(begun).toHaveLength(places);
  begun[0]?.reject(new Error("it does not start"));
  await vi.waitFor(() => expect(begun).toHaveLength(places + 1));
  for (const { resolve } of begun) resolve();
  await vi.waitFor(() => expect(begun).toHaveLength(places + 2));
  begun.at(-1)?.resolve();
  await done;
});

test("connectGradually does not wait for servers that take long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  let begun = 0;
  const server = {
    connect: () => {
      begun += 1;
      return new Promise(() => undefined);
    },
  };
  void connectGradually(Array.from({ length: availableParallelism() + 1 }, () => server));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(begun).toBe(availableParallelism() + 1);
});
