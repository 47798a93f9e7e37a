import type { Random } from "../../test/support/random.ts";
import type { Mode } from "../world/style.ts";
import { findValue } from "./fill-arguments.ts";
import { type PlayedGateway, proposedValues, type SeenCapability } from "./gateway.ts";
import type { Learned } from "./learned.ts";
import type { PlayedTask, PlayedWorld } from "./played-world.ts";

/** The observations of one step. */
export interface PlayedStep {
  /** The behaviour was run before. */
  readonly isKnown: boolean;
  /** Place of the first suggestion of the right behaviour, from 0. */
  readonly place: number | undefined;
  /** Probability that PML gave its first suggestion; undefined where it had none. */
  readonly confidence: number | undefined;
  readonly filled: FilledCounts;
  readonly speculation: Speculated | undefined;
  /** The reason why the solution did not do what it should. */
  readonly problem: string | undefined;
}

/** Parameters of the right suggestion with a value of PML's own. */
interface FilledCounts {
  readonly right: number;
  readonly wrong: number;
  /** Wrong ones that are not shown as proposals. */
  readonly unmarked: number;
  readonly open: number;
}

interface Speculated {
  readonly isRight: boolean;
  /** It left the world in a state that is neither the first nor the gold one. */
  readonly isHarmful: boolean;
}

export interface Play {
  readonly world: PlayedWorld;
  readonly pml: PlayedGateway;
  readonly mode: Mode;
  readonly random: Random;
  /** The state in which every task starts. */
  readonly seed: string;
  readonly learned: Learned;
}

/** Plays one task: asks what PML suggests, lets it run what it is sure of, then runs the solution. */
export async function playStep(play: Play, task: PlayedTask): Promise<PlayedStep> {
  const { world, pml, mode, random, learned } = play;
  const isKnown = learned.isKnown(task.behaviour);
  const { capabilities, confidence } = await pml.suggest(task.intent);
  const place = capabilities.findIndex(({ id }) => learned.isOf(id, task.behaviour));
  const speculation = await speculate(play, task);
  await world.reset();
  const args = mode === "args" ? task.values : undefined;
  const answer = await pml.run(task.intent, task.write(mode, random), args);
  const problem =
    answer.status !== "success"
      ? `${task.id}: ${answer.status} ${answer.error?.message ?? ""}`
      : (await world.read()) === task.gold.state
        ? undefined
        : `${task.id}: another state`;
  learned.note(answer.capabilityId, task);
  return {
    isKnown,
    place: place < 0 ? undefined : place,
    confidence: capabilities.length === 0 ? undefined : confidence,
    filled: countFilled(place === 0 ? capabilities[0] : undefined, task),
    speculation,
    problem,
  };
}

async function speculate({ world, pml, seed, learned }: Play, task: PlayedTask): Promise<Speculated | undefined> {
  await world.reset();
  const answer = await pml.speculate(task.intent, task.values);
  if (answer === undefined) return undefined;
  const state = await world.read();
  const isRight = learned.isOf(answer.capabilityId, task.behaviour) && state === task.gold.state;
  return { isRight, isHarmful: state !== seed && state !== task.gold.state };
}

function countFilled(capability: SeenCapability | undefined, task: PlayedTask): FilledCounts {
  const counts = { right: 0, wrong: 0, unmarked: 0, open: 0 };
  if (capability === undefined) return counts;
  const proposed = proposedValues(capability);
  for (const name of Object.keys(capability.parameters["properties"] ?? {})) {
    const known = proposed.get(name);
    if (known === undefined) counts.open += 1;
    else if (JSON.stringify(known.value) === JSON.stringify(findValue(name, task))) counts.right += 1;
    else {
      counts.wrong += 1;
      if (!known.isMarked) counts.unmarked += 1;
    }
  }
  return counts;
}
