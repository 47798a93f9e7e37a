import type { JsonObject, JsonSchema, JsonValue } from "../../src/base/json.ts";
import { fillArguments } from "./fill-arguments.ts";
import type { SeenCapability } from "./gateway.ts";
import type { Play } from "./play.ts";
import type { PlayedTask } from "./played-world.ts";

/** The outcomes of calls by name, after a play. */
export interface Reused {
  /** Tasks whose behaviour was learned from another task. */
  readonly reusable: number;
  readonly right: number;
  /** Calls that left the world in a wrong state. */
  readonly harmful: number;
  readonly problems: readonly string[];
}

export interface Refused {
  readonly calls: number;
  readonly refused: number;
  /** Calls with arguments of another shape that changed something. */
  readonly harmful: number;
}

type Known = ReadonlyMap<string, SeenCapability>;

/** Calls what was learned from other tasks by name, with the values of this one. */
export async function measureReuse(play: Play, known: Known): Promise<Reused> {
  const { world, learned } = play;
  const counts = { reusable: 0, right: 0, harmful: 0 };
  const problems: string[] = [];
  for (const task of world.tasks) {
    const id = learned.findFor(task);
    if (id === undefined) continue;
    counts.reusable += 1;
    const capability = known.get(id);
    const outcome = capability === undefined ? "no longer listed" : await callWith(play, capability, task);
    if (outcome === "right") counts.right += 1;
    else problems.push(`${task.id}: ${outcome}`);
    if (outcome === "wrong state") counts.harmful += 1;
  }
  return { ...counts, problems };
}

async function callWith({ world, pml, seed }: Play, capability: SeenCapability, task: PlayedTask): Promise<string> {
  const { args, unknown } = fillArguments(capability.parameters, task);
  if (unknown.length > 0) return `no value for ${unknown.join(", ")}`;
  await world.reset();
  const answer = await pml.call(task.intent, capability.callName, args);
  const state = await world.read();
  const isRight = state === task.gold.state && containsResult(answer.result ?? null, task.gold.result);
  if (isRight && answer.status === "success") return "right";
  if (state !== seed && state !== task.gold.state) return "wrong state";
  return answer.status === "success" ? "did something else" : `${answer.status} ${answer.error?.message ?? ""}`;
}

/** True if every computed value stands somewhere in the answer; agents wrap answers as they like. */
function containsResult(result: JsonValue, gold: JsonValue): boolean {
  const wanted = typeof gold === "object" && gold !== null ? Object.values(gold as JsonObject) : [];
  const text = JSON.stringify(result);
  return wanted.every((value) => text.includes(JSON.stringify(value)));
}

/** Calls each capability with names that it does not have, with one name too many, and with a value of another type. */
export async function measureRefusal(play: Play, known: Known): Promise<Refused> {
  const { world, pml, learned, seed } = play;
  const counts = { calls: 0, refused: 0, harmful: 0 };
  const firsts = new Map(world.tasks.toReversed().map((task) => [task.behaviour, task]));
  for (const task of firsts.values()) {
    const capability = known.get(learned.findFor(task) ?? "");
    if (capability === undefined) continue;
    const { args } = fillArguments(capability.parameters, task);
    for (const other of [renamed(args), extended(args), mistyped(args, capability.parameters)]) {
      if (other === undefined) continue;
      await world.reset();
      counts.calls += 1;
      const { status } = await pml.call(task.intent, capability.callName, other);
      if (status === "error") counts.refused += 1;
      if ((await world.read()) !== seed) counts.harmful += 1;
    }
  }
  return counts;
}

/** The same values under names that the capability does not have, as when another one was meant. */
function renamed(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [`other_${name}`, value]));
}

function extended(args: JsonObject): JsonObject {
  return { ...args, other_value: "unexpected" };
}

function mistyped(args: JsonObject, parameters: JsonSchema): JsonObject | undefined {
  const properties = (parameters["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const name = Object.keys(args).find((each) => properties[each]?.["type"] !== undefined);
  return name === undefined ? undefined : { ...args, [name]: { unexpected: true } };
}
