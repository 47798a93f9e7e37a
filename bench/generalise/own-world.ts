import { makeFolder } from "../../test/support/folder.ts";
import { listArgumentSites } from "../world/argument-sites.ts";
import { runHere } from "../world/gold.ts";
import { readIntents } from "../world/intents.ts";
import { seedWorld } from "../world/seed.ts";
import { MODES } from "../world/style.ts";
import { readTemplates } from "../world/templates.ts";
import { WorldFolder } from "../world/world-folder.ts";
import { writeSolution } from "../world/write-program.ts";
import type { PlayedTask, PlayedWorld } from "./played-world.ts";

/** The world of the repository: each template is a behaviour. */
export async function openOwnWorld(): Promise<PlayedWorld> {
  const place = await makeFolder("pml-bench-world-");
  const folder = new WorldFolder(place.path);
  return {
    name: "own world",
    servers: folder.entries(),
    tasks: await readTasks(),
    modes: MODES,
    reuseGoal: 85,
    reset: () => Promise.resolve(folder.reset()),
    read: () => Promise.resolve(folder.read()),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

async function readTasks(): Promise<PlayedTask[]> {
  const templates = readTemplates();
  const intents = readIntents(templates);
  const tasks = templates.flatMap(({ id, program, instances }) =>
    instances.map(async (values, index): Promise<PlayedTask> => {
      const { state, result } = await runHere(program, values, seedWorld());
      return {
        id: `${id} ${index + 1}`,
        behaviour: id,
        intent: intents[id]?.[index] ?? "",
        values,
        sites: listArgumentSites(program, values),
        // Only an object is an answer; a bare word is how a program says that it is done.
        gold: { state, result: typeof result === "object" ? result : null },
        write: (mode, random) => writeSolution(program, values, mode, random),
      };
    }),
  );
  return Promise.all(tasks);
}
