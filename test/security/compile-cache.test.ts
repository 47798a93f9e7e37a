/** Compiled code is kept where no other user, and no repository, could have put it: it is run at the next start. */
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../support/folder.ts";
import { runJson, runPml } from "../support/pml.ts";

interface CacheScene extends AsyncDisposable {
  readonly shared: string;
  readonly cache: string;
  readonly options: { readonly home: string; readonly env: Readonly<Record<string, string>> };
}

async function makeScene(): Promise<CacheScene> {
  const folder = await makeFolder();
  const [home, shared, caches] = ["home", "shared", "caches"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, shared, caches]) mkdirSync(path);
  return {
    shared,
    cache: join(caches, "pml"),
    options: { home, env: { XDG_CACHE_HOME: caches, TMPDIR: shared } },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("commands and daemon keep compiled code in the user's own folder, and none in the shared temporary one", async () => {
  await using scene = await makeScene();
  const { home, env } = scene.options;
  await runJson(["up"], scene.options);
  await runPml(["down"], scene.options);
  expect(statSync(scene.cache).mode & 0o777).toBe(0o700);
  expect(readdirSync(scene.cache).length).toBeGreaterThan(0);
  expect(readdirSync(scene.shared).filter((name) => name.includes("cache"))).toEqual([]);
  // without the variable it is below HOME; a relative one does not count
  const { code } = await runPml(["--version"], { home, env: { ...env, XDG_CACHE_HOME: "here" } });
  expect(code).toBe(0);
  expect(existsSync(join(home, "here"))).toBe(false);
  expect(statSync(join(home, ".cache", "pml")).mode & 0o777).toBe(0o700);
}, 60_000);

const FOREIGN: Readonly<Record<string, (cache: string, elsewhere: string) => void>> = {
  "is open to others": (cache) => {
    mkdirSync(cache);
    chmodSync(cache, 0o777);
  },
  "is a link": (cache, elsewhere) => {
    chmodSync(elsewhere, 0o700);
    symlinkSync(elsewhere, cache);
  },
  ...(process.getuid?.() === 0
    ? {
        "belongs to another user": (cache: string) => {
          mkdirSync(cache, { mode: 0o700 });
          chownSync(cache, 12_345, 12_345);
        },
        "lies in a folder of another user": (cache: string) => {
          mkdirSync(cache, { mode: 0o700 });
          chownSync(join(cache, ".."), 12_345, 12_345);
        },
      }
    : {}),
};

test.each(Object.entries(FOREIGN))(
  "PML neither reads nor writes compiled code in a folder that %s",
  async (_what, make) => {
    await using scene = await makeScene();
    make(scene.cache, scene.shared);
    const { code, stderr } = await runPml(["--version"], scene.options);
    expect([code, stderr]).toEqual([0, ""]);
    expect(readdirSync(scene.cache)).toEqual([]);
    expect(readdirSync(scene.shared)).toEqual([]);
  },
);
