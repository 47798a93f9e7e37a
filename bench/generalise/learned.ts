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

  /** The behaviours of each group of capabilities that PML takes for variants of one. */
  behavioursOf(groupOf: (capability: string) => string): ReadonlyMap<string, ReadonlySet<string>> {
    const groups = new Map<string, Set<string>>();
    for (const [id, tasks] of this.#tasks) {
      const group = groupOf(id);
      const behaviours = groups.get(group) ?? new Set();
      for (const { behaviour } of tasks) behaviours.add(behaviour);
      groups.set(group, behaviours);
    }
    return groups;
  }
}
