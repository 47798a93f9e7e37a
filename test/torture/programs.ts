import { type CountingScene, openCountingScene } from "../support/counting-scene.ts";
import { openTestDatabase } from "../support/databases.ts";
import { findStrayPath } from "../support/observed-path.ts";
import { connectReader, runSneakyPrograms, saveSneakyCapabilities, sneakySettings } from "../support/sneaky-runs.ts";
import type { CaseOptions, TortureCase } from "./torture-case.ts";

type Part = "paths" | "approved";

const parts: Readonly<Record<Part, (options: CaseOptions) => Promise<string[]>>> = {
  paths: checkPaths,
  approved: checkApprovals,
};

export const programs: TortureCase = {
  name: "programs",
  promise: "random programs follow a path of their structure, and reach no tool outside the approved set",
  defaultRounds: 1_000,
  parts: Object.keys(parts),
  run: async (options) => {
    const problems: string[] = [];
    const table = [];
    for (const [part, check] of Object.entries(parts)) {
      if (options.only.length > 0 && !options.only.includes(part)) continue;
      const found = await check(options);
      problems.push(...found.map((each) => `${part}: ${each}`));
      table.push({ part, programs: options.rounds, wrong: found.length });
    }
    return { holds: problems.length === 0, problems, table };
  },
};

async function checkPaths({ rounds, seed }: CaseOptions): Promise<string[]> {
  await using client = await openTestDatabase("pglite");
  const stray = await findStrayPath(client, { seed, programs: rounds });
  return stray === undefined ? [] : [stray];
}

async function checkApprovals({ rounds, seed }: CaseOptions): Promise<string[]> {
  await using scene: CountingScene = await openCountingScene(sneakySettings);
  await using person = await connectReader(scene);
  await saveSneakyCapabilities(person.client);
  const run = { programs: rounds, seed, tools: ["add", "put", "drop"] };
  return (await runSneakyPrograms(scene, person.client, run)).problems;
}
