import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/support/databases.ts";
import { findEngineMajor, prepareDataDirectory } from "./template.ts";

test("prepareDataDirectory unpacks the template into a new directory", async () => {
  await using home = await makeFolder();
  await prepareDataDirectory(join(home.path, "data"));
  expect(await findEngineMajor(join(home.path, "data"))).toBe("18");
  expect(await readdir(home.path)).toEqual(["data"]);
});

test("prepareDataDirectory refuses a directory of another engine version and changes nothing", async () => {
  await using home = await makeFolder();
  const data = join(home.path, "data");
  await mkdir(data);
  await writeFile(join(data, "PG_VERSION"), "17\n");
  await expect(prepareDataDirectory(data)).rejects.toMatchObject({
    code: "engine_mismatch",
    message: /written by engine version 17; this PML has version 18/,
  });
  expect(await readdir(data)).toEqual(["PG_VERSION"]);
});

test("prepareDataDirectory renames a directory that is not a database, and deletes nothing", async () => {
  await using home = await makeFolder();
  const data = join(home.path, "data");
  await mkdir(data);
  await writeFile(join(data, "precious"), "keep me");
  await prepareDataDirectory(data);
  const aside = (await readdir(home.path)).find((name) => name.startsWith("data.incomplete-"));
  expect(await readdir(join(home.path, aside ?? ""))).toEqual(["precious"]);
});

test("prepareDataDirectory removes the partial directory of a killed start", async () => {
  await using home = await makeFolder();
  await mkdir(join(home.path, "data.partial"));
  await writeFile(join(home.path, "data.partial", "half"), "");
  await prepareDataDirectory(join(home.path, "data"));
  expect(await readdir(home.path)).toEqual(["data"]);
});

test("prepareDataDirectory names the directory it cannot create, and the reason", async () => {
  await using home = await makeFolder();
  await writeFile(join(home.path, "file"), "");
  await expect(prepareDataDirectory(join(home.path, "file", "data"))).rejects.toMatchObject({
    code: "store_unusable",
    message: /file\/data for the database: ENOTDIR/,
  });
});
