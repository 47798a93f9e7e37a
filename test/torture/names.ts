import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { CHANGES, embeddedCopies, killEverywhere, type KillResult, type StateCopies } from "./names-kills.ts";
import { raceReplicas, type RaceResult } from "./names-races.ts";
import type { CaseOptions, CaseOutcome, TortureCase } from "./torture-case.ts";
import { makeWorkFolder } from "./work-folder.ts";

/** Rounds that kill the daemon at every statement; fewer rounds skip statements in proportion. */
const ALL = 1_000;

export const names: TortureCase = {
  name: "names",
  promise: "a change of names that is killed anywhere has happened or has not, and a name is given once",
  defaultRounds: ALL,
  parts: ["pglite", "postgres", "races", ...CHANGES],
  async run(options) {
    using folder = makeWorkFolder("names");
    const engines = chosenOf(options, ["pglite", "postgres", "races"] as const);
    const kill = { chosen: chosenOf(options, CHANGES), every: Math.ceil(ALL / options.rounds), say: options.say };
    const table: CaseOutcome["table"][number][] = [];
    const problems: string[] = [];
    const add = (engine: string, { counts, problems: found }: KillResult): void => {
      table.push(...counts.map((each) => ({ engine, ...each })));
      problems.push(...found);
    };
    if (engines.includes("pglite")) add("PGlite", await killEverywhere(embeddedCopies(folder.path), kill));
    if (engines.includes("postgres") || engines.includes("races")) {
      await using server = await startPostgres();
      if (engines.includes("postgres"))
        add("PostgreSQL", await killEverywhere(await serverCopies(server, folder.path), kill));
      if (engines.includes("races")) {
        const races = await raceOn(server, folder.path, options);
        table.push({ engine: "PostgreSQL", ...races.table });
        problems.push(...races.problems);
      }
    }
    return { holds: problems.length === 0, problems, table } satisfies CaseOutcome;
  },
};

/** Returns the requested parts of a kind, or all of them if none was requested. */
function chosenOf<Part extends string>({ only }: CaseOptions, parts: readonly Part[]): readonly Part[] {
  const chosen = parts.filter((part) => only.includes(part));
  return chosen.length === 0 ? parts : chosen;
}

/** Databases of one server, used in sequence by daemons of one folder. */
async function serverCopies(server: PostgresServer, folder: string): Promise<StateCopies> {
  const home = join(folder, "server");
  mkdirSync(home);
  const create = async (name: string, template: string): Promise<void> => {
    await using admin = await openPostgres({ url: server.url("postgres"), poolSize: 1 });
    await admin.execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.execute(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  };
  await create("base", "template0");
  return {
    base: { home, database: server.url("base") },
    async copy() {
      await create("used", "base");
      return { home, database: server.url("used") };
    },
  };
}

async function raceOn(server: PostgresServer, folder: string, options: CaseOptions): Promise<RaceResult> {
  await using admin = await openPostgres({ url: server.url("postgres"), poolSize: 1 });
  await admin.execute("CREATE DATABASE races");
  const database = server.url("races");
  const [one, two] = ["one", "two"].map((name) => join(folder, name)) as [string, string];
  for (const home of [one, two]) mkdirSync(home);
  return raceReplicas(
    [
      { home: one, database },
      { home: two, database },
    ],
    options,
  );
}
