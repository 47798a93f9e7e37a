import type { PlayedTask } from "./played-world.ts";

/** The ground truth of a play: which capability came of which behaviour. */
export class Learned {
  /** The tasks that were run, by the capability that PML answered. */
  readonly #tasks = new Map<string, PlayedTask[]>();

  note(capability: string | undefined, task: PlayedTask): void {
    if (capability === undefined) return;
    this.#tasks.set(capability, [...(this.#tasks.get(capability) ?? []), task]);
  }

  isKnown(behaviour: string): boolean {
    return this.#idsOf(behaviour).length > 0;
  }

  isOf(capability: string | undefined, behaviour: string): boolean {
    return this.#tasks.get(capability ?? "")?.some((task) => task.behaviour === behaviour) ?? false;
  }

  #idsOf(behaviour: string): string[] {
    return [...this.#tasks.keys()].filter((id) => this.isOf(id, behaviour));
  }

  /** The capability for a behaviour that was run most often, with other tasks than this one. */
  findFor({ behaviour, id: own }: PlayedTask): string | undefined {
    const others = (id: string): number =>
      this.#tasks.get(id)?.filter((task) => task.behaviour === behaviour && task.id !== own).length ?? 0;
    const [best] = this.#idsOf(behaviour).toSorted((a, b) => others(b) - others(a));
    return best === undefined || others(best) === 0 ? undefined : best;
  }

  /** The number of runs of each capability. */
  uses(): number[] {
    return [...this.#tasks.values()].map(({ length }) => length);
  }

  /** The number of capabilities of each behaviour. */
  perBehaviour(): number[] {
    const behaviours = new Set([...this.#tasks.values()].flat().map(({ behaviour }) => behaviour));
    return [...behaviours].map((behaviour) => this.#idsOf(behaviour).length);
  }

  /** Capabilities that stand for several behaviours, with their names. */
  mixed(): string[] {
    return [...this.#tasks.values()]
      .map((tasks) => [...new Set(tasks.map(({ behaviour }) => behaviour))])
      .filter(({ length }) => length > 1)
      .map((behaviours) => behaviours.toSorted().join(" = "));
  }
}
