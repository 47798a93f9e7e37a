import { setImmediate as settle } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Turn, type TurnKind, Turns } from "./turns.ts";

/** Calls by name, and which of them are under way. */
function createScene(): {
  readonly turns: Turns;
  begin(name: string, kind: TurnKind, signal?: AbortSignal): Promise<Turn>;
  underWay(): Promise<string>;
} {
  const turns = new Turns();
  const running = new Set<string>();
  return {
    turns,
    async begin(name, kind, signal) {
      const turn = await turns.begin(kind, signal);
      running.add(name);
      return {
        ...turn,
        [Symbol.dispose]() {
          running.delete(name);
          turn[Symbol.dispose]();
        },
      };
    },
    async underWay() {
      await settle();
      return [...running].join(" ");
    },
  };
}

test("Turns lets calls that do not ask run together and those that do alone, in order", async () => {
  const scene = createScene();
  const a = await scene.begin("a", "shared");
  const b = await scene.begin("b", "shared");
  const asking = scene.begin("asks", "alone");
  void scene.begin("c", "shared");
  expect(await scene.underWay()).toBe("a b");
  a[Symbol.dispose]();
  expect(await scene.underWay()).toBe("b");
  b[Symbol.dispose]();
  expect(await scene.underWay()).toBe("asks");
  (await asking)[Symbol.dispose]();
  expect(await scene.underWay()).toBe("c");
});

test("Turns lets others run while a question is open, and the answer through when they are done", async () => {
  const scene = createScene();
  const asking = await scene.begin("asks", "alone");
  void scene.begin("asks too", "alone");
  const a = scene.begin("a", "shared");
  expect(await scene.underWay()).toBe("asks");
  asking.pause();
  expect(await scene.underWay()).toBe("asks a");
  let alone = false;
  const resumed = asking.resume().then(() => (alone = true));
  void scene.begin("b", "shared");
  expect([await scene.underWay(), alone]).toEqual(["asks a", false]);
  (await a)[Symbol.dispose]();
  await resumed;
  expect(await scene.underWay()).toBe("asks");
  asking[Symbol.dispose]();
  expect(await scene.underWay()).toBe("asks too");
});

test("Turns takes a call that asks for the first time for one that asks, and two open questions for two", async () => {
  const scene = createScene();
  const asking = await scene.begin("asks", "shared");
  asking.pause();
  asking.pause();
  (await scene.begin("a", "shared"))[Symbol.dispose]();
  await asking.resume();
  const b = await scene.begin("b", "shared");
  const resumed = asking.resume();
  void scene.begin("c", "shared");
  expect(await scene.underWay()).toBe("asks b");
  b[Symbol.dispose]();
  await resumed;
  expect(await scene.underWay()).toBe("asks");
});

test("Turns forgets a call that gives up, whether it waits for its turn or for being alone again", async () => {
  const scene = createScene();
  const a = await scene.begin("a", "shared");
  const abort = new AbortController();
  const given = scene.begin("asks", "alone", abort.signal);
  void scene.begin("b", "shared");
  abort.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  expect(await scene.underWay()).toBe("a b");
  await expect(scene.begin("late", "shared", abort.signal)).rejects.toThrow("enough");
  a[Symbol.dispose]();

  const other = createScene();
  const asking = await other.begin("asks", "alone");
  asking.pause();
  await other.begin("a", "shared");
  void asking.resume();
  void other.begin("b", "shared");
  expect(await other.underWay()).toBe("asks a");
  asking[Symbol.dispose]();
  expect(await other.underWay()).toBe("a b");
});
