import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { CaseOptions, Outcome, TortureCase } from "./torture-case.ts";
import { makeWorkFolder } from "./work-folder.ts";

const CHANGES = ["rename", "fork", "merge", "version", "archive"];
const RACES = 10;

export const names: TortureCase = {
  name: "names",
  promise: "a change of names that is killed anywhere has happened or has not, and a name is given once",
  defaultRounds: 100,
  async run(options) {
    using folder = makeWorkFolder("names");
    await using server = await startPostgres();
    await using admin = await openPostgres({ url: server.url("postgres"), poolSize: 1 });
    const half = Math.ceil(options.rounds / 2);
    const pglite = await killEverywhere({ ...options, rounds: half }, embeddedPlaces(folder.path));
    let made = 0;
    const newDatabase = async (template: string): Promise<string> => {
      const name = `names_${++made}`;
      await admin.execute(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      return name;
    };
    const base = await newDatabase("template0");
    const places: Places = {
      base: { home: "", database: server.url(base) },
      copy: async () => ({ home: "", database: server.url(await newDatabase(base)) }),
    };
    const postgres = await killEverywhere({ ...options, rounds: half }, places);
    const races = await race(places);
    const problems = [...pglite.problems, ...postgres.problems, ...races];
    const table = [
      { engine: "PGlite", ...pglite.counts, races: 0 },
      { engine: "PostgreSQL", ...postgres.counts, races: RACES },
    ];
    return { holds: problems.length === 0, problems, table } satisfies Outcome;
  },
};

interface Place {
  readonly home: string;
  readonly database: string;
}

/** Where the state before lies, and copies of it that may be mistreated. */
interface Places {
  readonly base: Place;
  copy(): Promise<Place>;
}

function embeddedPlaces(folder: string): Places {
  const base = join(folder, "base");
  const used = join(folder, "used");
  mkdirSync(base);
  return {
    base: { home: base, database: "" },
    async copy() {
      rmSync(used, { recursive: true, force: true });
      cpSync(base, used, { recursive: true });
      return { home: used, database: "" };
    },
  };
}

interface Counts {
  killed: number;
  before: number;
  after: number;
}

async function killEverywhere(
  { rounds, say }: Pick<CaseOptions, "rounds" | "say">,
  places: Places,
): Promise<{ readonly counts: Counts; readonly problems: readonly string[] }> {
  const { state: before } = await live(places.base, "prepare", 0);
  const counts: Counts = { killed: 0, before: 0, after: 0 };
  const problems: string[] = [];
  for (const change of CHANGES) {
    const undisturbed = await live(await places.copy(), change, 0);
    const positions = undisturbed.positions ?? 0;
    const every = Math.max(1, Math.ceil((positions * CHANGES.length) / rounds));
    for (
      let position = 1;
      position <= positions;
      position += position === positions ? 1 : Math.min(every, positions - position)
    ) {
      const place = await places.copy();
      await live(place, change, position);
      const { state } = await live(place, "look", 0);
      counts.killed += 1;
      if (isDeepStrictEqual(state, before)) counts.before += 1;
      else if (isDeepStrictEqual(state, undisturbed.state)) counts.after += 1;
      else problems.push(`${change} killed at ${position} of ${positions}: ${JSON.stringify(state)}`);
    }
    say(`${change}: ${positions} positions, ${counts.killed} killed so far, ${problems.length} problems`);
  }
  if (counts.before === 0 || counts.after === 0) problems.push("the kills did not reach both sides of the commit");
  return { counts, problems };
}

/** Two processes want the same name at the same time. */
async function race(places: Places): Promise<string[]> {
  const problems: string[] = [];
  for (let round = 0; round < RACES; round++) {
    const place = await places.copy();
    const [one, two] = await Promise.all([live(place, "race", 0), live(place, "race", 0)]);
    const refused = [one.refused, two.refused].filter((code) => code === "capability_name_taken");
    if (refused.length !== 1) problems.push(`race ${round}: ${refused.length} of two were refused`);
  }
  return problems;
}

interface Lived {
  readonly positions?: number;
  readonly refused?: string;
  readonly state?: unknown;
}

async function live({ home, database }: Place, change: string, position: number): Promise<Lived> {
  const script = join(import.meta.dirname, "names-process.ts");
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, home, database, change, String(position)]);
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as Lived;
  } catch (error) {
    const { signal } = error as { signal?: string };
    if (signal === "SIGKILL" && position > 0) return {};
    throw error;
  }
}
