import { setTimeout as sleep } from "node:timers/promises";
import { type DaemonLocation, SwitchedDaemon, type DaemonAnswer, type DaemonRequest } from "./switched-daemon.ts";

export interface RaceResult {
  readonly problems: readonly string[];
  readonly table: Readonly<Record<string, number>>;
}

/**
 * Limit for another gateway to serve the former meaning of a name. A notification of the database ends it within
 * milliseconds; if one is lost, the version of the scope is read every three seconds.
 */
const WINDOW_MS = 4_000;
const POLL_EVERY_MS = 2;

type Contest = (name: string, round: number) => readonly [one: DaemonRequest, two: DaemonRequest];

const create = (name: string, round: number, who: string): DaemonRequest => [
  "learn:save",
  { name, code: `return "${who} ${round}"` },
];
const rename = (name: string, round: number, who: string): DaemonRequest => [
  "dns:rename",
  { name: `util:${who}_${round}`, newName: name },
];

const contests: readonly Contest[] = [
  (name, round) => [create(name, round, "one"), create(name, round, "two")],
  (name, round) => [rename(name, round, "left"), rename(name, round, "right")],
  (name, round) => [rename(name, round, "left"), create(name, round, "two")],
];

export interface RaceOptions {
  readonly rounds: number;
  readonly say: (line: string) => void;
}

/**
 * Two daemons on one database claim the same name at the same time; then one renames a name that the other has cached.
 */
export async function raceReplicas(
  places: readonly [DaemonLocation, DaemonLocation],
  { rounds, say }: RaceOptions,
): Promise<RaceResult> {
  await using one = await SwitchedDaemon.start(places[0]);
  await using two = await SwitchedDaemon.start(places[1]);
  const race = new Race(one, two);
  for (let round = 1; round <= rounds; round++) {
    await race.contend(round);
    await race.renameInUse(round);
    if (round % PROGRESS_EVERY === 0) say(`races: ${round} of ${rounds}, ${race.problems.length} problems`);
  }
  return {
    problems: race.problems,
    table: {
      races: rounds,
      ...race.wins,
      stale: race.staleMs.filter((time) => time > 0).length,
      ...describe("stale", race.staleMs),
      ...describe("fresh", race.freshMs),
    },
  };
}

const PROGRESS_EVERY = 50;

class Race {
  readonly problems: string[] = [];
  readonly wins = { one: 0, two: 0 };
  /** Times after the answer to a rename of the last call that the other daemon served the old way. */
  readonly staleMs: number[] = [];
  /** Times of the first call that it served the new way: the window closed in between. */
  readonly freshMs: number[] = [];
  readonly #one: SwitchedDaemon;
  readonly #two: SwitchedDaemon;

  constructor(one: SwitchedDaemon, two: SwitchedDaemon) {
    this.#one = one;
    this.#two = two;
  }

  async contend(round: number): Promise<void> {
    const name = contested(round);
    const [one, two] = (contests[round % contests.length] ?? contests[0]!)(name, round);
    for (const [tool, { name: source }] of [one, two])
      if (tool === "dns:rename")
        await callOrThrow(this.#one, "learn:save", { name: source, code: `return "${String(source)}"` });
    const answers = await Promise.all([this.#one.call(...one), this.#two.call(...two)]);
    const won = answers.map((answer) => answer?.isError === false);
    const refused = answers.filter((answer) => answer?.isError === true && isCollision(answer, name));
    if (won.filter(Boolean).length !== 1 || refused.length !== 1) {
      this.problems.push(`race ${round} (${one[0]}, ${two[0]}): ${answers.map((answer) => answer?.text).join(" | ")}`);
      return;
    }
    this.wins[won[0] === true ? "one" : "two"] += 1;
    const seen = await Promise.all([this.#one, this.#two].map((daemon) => callOrThrow(daemon, "dns:lookup", { name })));
    const [first, second] = seen.map(({ text }) => (JSON.parse(text) as { id: string }).id);
    if (first !== second) this.problems.push(`race ${round}: the two gateways answer ${first} and ${second}`);
  }

  /** Renames on the first daemon while the second one has the name in its cache. */
  async renameInUse(round: number): Promise<void> {
    const [name, renamed] = [contested(round), `util:renamed_${round}`];
    const asked = { name: `cap:${name}`, isFresh: ({ warnings }: DaemonAnswer): boolean => warnings !== undefined };
    if (await this.#isFresh(asked)) this.problems.push(`round ${round}: ${name} is said to be a former name already`);
    let answered = Number.POSITIVE_INFINITY;
    const renaming = callOrThrow(this.#one, "dns:rename", { name, newName: renamed }).then(
      () => (answered = performance.now()),
    );
    let lastStale = 0;
    for (;;) {
      const began = performance.now();
      if (await this.#isFresh(asked)) {
        this.freshMs.push(Math.max(0, began - answered));
        break;
      }
      lastStale = Math.max(lastStale, began - answered);
      if (began - answered > WINDOW_MS) {
        this.problems.push(`round ${round}: ${name} was served the old way ${Math.round(began - answered)} ms later`);
        break;
      }
      await sleep(POLL_EVERY_MS);
    }
    await renaming;
    this.staleMs.push(lastStale);
  }

  async #isFresh({ name, isFresh }: { name: string; isFresh: (answer: DaemonAnswer) => boolean }): Promise<boolean> {
    return isFresh(await callOrThrow(this.#two, name, {}));
  }
}

const contested = (round: number): string => `util:contested_${round}`;

function isCollision({ text }: DaemonAnswer, name: string): boolean {
  return text.includes(`Capability name '${name}' already exists`);
}

async function callOrThrow(
  daemon: SwitchedDaemon,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Promise<DaemonAnswer> {
  const answer = await daemon.call(tool, input);
  if (answer?.isError !== false) throw new Error(`${tool} ${JSON.stringify(input)}: ${answer?.text}`);
  return answer;
}

function describe(what: string, times: readonly number[]): Record<string, number> {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => round1(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
  return { [`${what}P50Ms`]: at(0.5), [`${what}P99Ms`]: at(0.99), [`${what}MaxMs`]: round1(sorted.at(-1)) };
}

function round1(number = 0): number {
  return Math.round(number * 10) / 10;
}
