import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/databases.ts";
import { createEngineScene, createTestSandbox, scope } from "../../test/support/engine-scene.ts";
import { makeFolder } from "../../test/support/folder.ts";
import { readUsage } from "../capabilities/capability-store.ts";
import type { DatabaseClient } from "../db/client.ts";
import { openFinisher } from "./finisher.ts";

/** Remembers the statements that end runs, instead of carrying them out where that is wanted. */
function watchFinishes(
  client: DatabaseClient,
): DatabaseClient & { readonly seen: (readonly unknown[])[]; lose: boolean } {
  const watched = {
    ...client,
    seen: [] as (readonly unknown[])[],
    lose: false,
    executePrepared: async (name: string, text: string, values: readonly unknown[]) => {
      watched.seen.push(values);
      return watched.lose ? { rows: [] } : client.executePrepared(name, text, values);
    },
  };
  return watched;
}

test("what a process that died had promised is carried out at the next start, and only once", async () => {
  await using sandbox = createTestSandbox();
  await using client = await openTestDatabase("pglite");
  await using folder = await makeFolder();
  const watched = watchFinishes(client);
  const scene = await createEngineScene(watched, sandbox);
  const code = "return args.n";
  const { capabilityId = "" } = await scene.run(code, { args: { n: 1 } });
  watched.lose = true;
  await scene.run(code, { args: { n: 2 } });
  expect((await readUsage(client.db, scope, capabilityId)).count).toBe(1);

  const path = join(folder.path, "finished-runs.log");
  const lines = watched.seen.map((values) => JSON.stringify(values));
  writeFileSync(path, ["not JSON", ...lines, ...lines].map((line) => `${line}\n`).join(""));
  const errors: string[] = [];
  const log = { error: (_fields: unknown, message = "") => void errors.push(message) };
  {
    await using _finisher = openFinisher({ client, home: folder.path, log });
  }
  expect(errors).toEqual(["the end of a run cannot be read"]);
  expect((await readUsage(client.db, scope, capabilityId)).count).toBe(2);
  expect(readFileSync(path, "utf8")).toBe("");
});
