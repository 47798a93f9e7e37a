import { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { writeTogether } from "./write-together.ts";

/** Notes what reaches it at once. */
function createSink(): { readonly stream: Writable; readonly batches: string[] } {
  const batches: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => done(void batches.push(chunk)),
    writev: (chunks, done) => done(void batches.push(chunks.map(({ chunk }) => String(chunk)).join(""))),
  });
  return { stream, batches };
}

const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

test("a single message goes out as soon as the work that wrote it is done", async () => {
  const { stream, batches } = createSink();
  writeTogether(stream, "a");
  expect(batches).toEqual([]);
  await tick();
  expect(batches).toEqual(["a"]);
});

test("of several in a turn the first goes at once, the others together at its end", async () => {
  const { stream, batches } = createSink();
  for (const message of ["a", "b", "c"]) {
    writeTogether(stream, message);
    await tick();
  }
  expect(batches).toEqual(["a"]);
  await turn();
  expect(batches).toEqual(["a", "bc"]);
});

test("after a turn with several they all wait for its end, until there is one with few", async () => {
  const { stream, batches } = createSink();
  for (const message of ["a", "b"]) {
    writeTogether(stream, message);
    await tick();
  }
  await turn();
  for (const message of ["c", "d"]) {
    writeTogether(stream, message);
    await tick();
  }
  expect(batches).toEqual(["a", "b"]);
  await turn();
  expect(batches).toEqual(["a", "b", "cd"]);
  writeTogether(stream, "e");
  await turn();
  writeTogether(stream, "f");
  await tick();
  expect(batches).toEqual(["a", "b", "cd", "e", "f"]);
});
