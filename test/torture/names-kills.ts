import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type NamesState, readNamesState, sideOf } from "./names-state.ts";
import { type DaemonLocation, SwitchedDaemon, type DaemonRequest } from "./switched-daemon.ts";

/** The initial state, and disposable copies of it. */
export interface StateCopies {
  readonly base: DaemonLocation;
  copy(): Promise<DaemonLocation>;
}

const preparation: readonly DaemonRequest[] = [
  ["learn:save", { name: "fs:a", code: "return 'a'", version_tag: "v1.0.0" }],
  ["learn:save", { name: "fs:b", code: "return 'b'", tags: ["io"] }],
  ["dns:rename", { name: "fs:b", newName: "fs:bb" }],
];

const changes = {
  rename: ["dns:rename", { name: "fs:a", newName: "fs:c" }],
  fork: ["dns:fork", { source: "fs:a", name: "fs:d" }],
  merge: ["dns:merge", { sources: ["fs:a", "fs:bb"], name: "fs:e" }],
  version: ["dns:update", { name: "fs:a", code: "return 'a2'" }],
  archive: ["learn:archive", { name: "fs:a" }],
} satisfies Readonly<Record<string, DaemonRequest>>;

export type NameChange = keyof typeof changes;
export const CHANGES = Object.keys(changes) as NameChange[];

export interface KillCounts {
  readonly change: string;
  readonly statements: number;
  readonly killed: number;
  readonly before: number;
  readonly after: number;
}

export interface KillResult {
  readonly counts: readonly KillCounts[];
  readonly problems: readonly string[];
}

export interface NameKillOptions {
  readonly chosen: readonly NameChange[];
  /** 1 kills at every position. */
  readonly every: number;
  readonly say: (line: string) => void;
}

/** Kills the daemon before and after every statement of each change, and checks the result. */
export async function killEverywhere(places: StateCopies, options: NameKillOptions): Promise<KillResult> {
  {
    await using daemon = await SwitchedDaemon.start(places.base);
    for (const [tool, input] of preparation) {
      const answer = await daemon.call(tool, input);
      if (answer?.isError !== false) throw new Error(`${tool} failed: ${answer?.text}`);
    }
  }
  const counts: KillCounts[] = [];
  const problems: string[] = [];
  for (const change of options.chosen) {
    const result = await killChange(places, change, options);
    counts.push(result.counts);
    problems.push(...result.problems);
  }
  return { counts, problems };
}

async function killChange(
  places: StateCopies,
  change: NameChange,
  { every, say }: NameKillOptions,
): Promise<{ readonly counts: KillCounts; readonly problems: readonly string[] }> {
  const [tool, input] = changes[change];
  const first = await places.copy();
  const before = await readNamesState(first);
  const { statements, after } = await undisturbed(first, tool, input);
  const positions = statements.length + 1; // the last one is after the answer
  const sides = { before: 0, after: 0 };
  const problems: string[] = [];
  let killed = 0;
  for (let position = 1; position <= positions; position = next(position, positions, every)) {
    const place = await places.copy();
    await killAt(place, [tool, input], position);
    const side = sideOf(await readNamesState(place), before, after);
    killed += 1;
    if (side !== undefined) sides[side] += 1;
    else problems.push(`${change} killed at ${position} (${statements[position - 1]}): neither old nor new`);
    if (killed % PROGRESS_EVERY === 0) say(`${change}: ${position} of ${positions}, ${problems.length} problems`);
  }
  if (sides.before === 0 || sides.after === 0)
    problems.push(`${change}: the kills were on one side of the commit only`);
  say(`${change}: ${killed} kills, ${sides.before} before, ${sides.after} after, ${problems.length} problems`);
  return {
    counts: { change, statements: statements.filter((line) => line.startsWith("before")).length, killed, ...sides },
    problems,
  };
}

const PROGRESS_EVERY = 10;

/** Always includes the last position. */
function next(position: number, last: number, every: number): number {
  return position === last ? last + 1 : Math.min(last, position + every);
}

async function undisturbed(
  place: DaemonLocation,
  ...[tool, input]: DaemonRequest
): Promise<{ readonly statements: readonly string[]; readonly after: NamesState }> {
  let statements: string[];
  {
    await using daemon = await SwitchedDaemon.start(place);
    const answer = await daemon.call(tool, input, 0);
    if (answer?.isError !== false) throw new Error(`${tool} failed: ${answer?.text}`);
    ({ statements } = daemon);
  }
  return { statements, after: await readNamesState(place) };
}

async function killAt(place: DaemonLocation, [tool, input]: DaemonRequest, position: number): Promise<void> {
  const daemon = await SwitchedDaemon.start(place);
  await daemon.call(tool, input, position);
  // Other work of the daemon shifts positions a little: it is then killed after the answer.
  await daemon.kill();
}

/** Copies a folder. */
export function embeddedCopies(folder: string): StateCopies {
  const base = join(folder, "base");
  const used = join(folder, "used");
  mkdirSync(base);
  return {
    base: { home: base, database: undefined },
    async copy() {
      rmSync(used, { recursive: true, force: true });
      cpSync(base, used, { recursive: true });
      return { home: used, database: undefined };
    },
  };
}
