import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { openPostgres } from "../../src/db/open-postgres.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { servers, writeConfig } from "../support/upstream-servers.ts";
import { replayPrograms } from "./replay-programs.ts";
import type { CaseOptions, CaseOutcome, TortureCase } from "./torture-case.ts";
import { makeWorkFolder } from "./work-folder.ts";

export const replay: TortureCase = {
  name: "replay",
  promise: "a run killed at any position of its journal is gone on with, and does nothing twice",
  defaultRounds: 200,
  async run(options) {
    using folder = makeWorkFolder("replay");
    await using server = await startPostgres();
    {
      await using admin = await openPostgres({ url: server.url("postgres"), poolSize: 1 });
      await admin.execute("CREATE DATABASE replay");
    }
    const half = Math.ceil(options.rounds / 2);
    const pglite = await killEverywhere({ ...options, rounds: half, home: join(folder.path, "pglite") });
    const postgres = await killEverywhere({
      ...options,
      rounds: half,
      home: join(folder.path, "postgres"),
      database: server.url("replay"),
    });
    const problems = [...pglite.problems, ...postgres.problems];
    const table = [
      { engine: "PGlite", ...pglite.counts },
      { engine: "PostgreSQL", ...postgres.counts },
    ];
    return { holds: problems.length === 0, problems, table } satisfies CaseOutcome;
  },
};

export interface ReplayOptions extends Pick<CaseOptions, "rounds" | "say"> {
  readonly home: string;
  readonly database?: string;
}

interface ReplayCounts {
  positions: number;
  neverBegan: number;
  succeeded: number;
  inDoubt: number;
}

/** Kills at up to `rounds` positions, spread evenly over all programs. */
export async function killEverywhere(
  options: ReplayOptions,
): Promise<{ readonly counts: ReplayCounts; readonly problems: readonly string[] }> {
  const { home, database, rounds, say } = options;
  mkdirSync(home);
  const file = join(home, "calls.txt");
  writeFileSync(file, "");
  writeConfig(home, {
    mcpServers: { counting: servers.counting(file) },
    permissions: { allow: ["counting:*"] },
    ...(database === undefined ? {} : { database: { url: database } }),
  });
  await runProcess(home, "nested", "learn", "learn");
  const moments = await findKillPositions(home, file);
  const chosen = moments.filter(
    (_, index) => Math.floor((index * rounds) / moments.length) !== Math.floor(((index - 1) * rounds) / moments.length),
  );
  const counts: ReplayCounts = { positions: 0, neverBegan: 0, succeeded: 0, inDoubt: 0 };
  const problems: string[] = [];
  for (const moment of chosen) {
    counts.positions += 1;
    const problem = await killOnce({ home, file, moment, counts });
    if (problem !== undefined) problems.push(problem);
    if (counts.positions % 20 === 0) say(`${counts.positions}/${chosen.length}: ${problems.length} problems`);
  }
  return { counts, problems };
}

interface KillPosition {
  readonly program: string;
  readonly position: number;
  /** The effects of an undisturbed run. */
  readonly expected: readonly string[];
}

async function findKillPositions(home: string, file: string): Promise<KillPosition[]> {
  const moments: KillPosition[] = [];
  for (const program of Object.keys(replayPrograms)) {
    writeFileSync(file, "");
    const { positions } = (await runProcess(home, program, `${program} undisturbed`, "0")) as { positions: number };
    const expected = effects(file);
    for (let position = 1; position <= positions; position++) moments.push({ program, position, expected });
  }
  return moments;
}

async function killOnce({
  home,
  file,
  moment,
  counts,
}: {
  home: string;
  file: string;
  moment: KillPosition;
  counts: ReplayCounts;
}): Promise<string | undefined> {
  const { program, position, expected } = moment;
  const where = `${program} at ${position}`;
  writeFileSync(file, "");
  await runProcess(home, program, where, String(position));
  const ended = (await runProcess(home, program, where, "recover")) as { state: string; error?: { code: string } };
  const happened = effects(file);
  const twice = happened.filter((effect, index) => happened.indexOf(effect) !== index);
  if (twice.length > 0) return `${where}: happened twice: ${twice.join(", ")}`;
  if (ended.state === "never began") {
    counts.neverBegan += 1;
    return happened.length === 0 ? undefined : `${where}: no run is known, but ${happened.join(", ")} happened`;
  }
  if (ended.state === "succeeded" && happened.length === expected.length) counts.succeeded += 1;
  else counts.inDoubt += 1;
  const isExplained = ended.state === "succeeded" || ended.error?.code === "outcome_unknown";
  return isExplained ? undefined : `${where}: ended as ${JSON.stringify(ended)}`;
}

/** Effects that may happen only once. */
function effects(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("add "));
}

const LIFE_LIMIT_MS = 60_000;

/** Runs one process to its end and returns its output; undefined if it was killed. */
async function runProcess(home: string, program: string, intent: string, mode: string): Promise<unknown> {
  const script = join(import.meta.dirname, "replay-process.ts");
  const work = promisify(execFile)(process.execPath, [script, home, program, intent, mode], {
    timeout: LIFE_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  try {
    return JSON.parse((await work).stdout) as unknown;
  } catch (error) {
    const { signal, stderr } = error as { signal?: string; stderr?: string };
    if (signal === "SIGKILL" && Number(mode) > 0) return undefined;
    throw new Error(`${program} ${mode} failed: ${stderr ?? String(error)}`, { cause: error });
  }
}
