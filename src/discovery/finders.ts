import { stem } from "./porter-stem.ts";
import type { SearchDocument } from "./search.ts";
import { splitPlain } from "./query-words.ts";

/** What somebody needs beforehand: whatever finds `thing`. */
export interface Finder {
  readonly slot: number;
  readonly thing: string;
}

/** Names of what finds things. */
const FINDING = new Set(["search", "find", "list", "lookup", "query", "browse"]);

/**
 * Who wants the id of something nobody knows by heart has to find that thing first, and a request never says so. Which
 * tools those are is seen from names alone: of parameters (`movie_id`), of places in a path (`/movie/{id}/credits`), and
 * of what searches or lists movies.
 */
export class Finders {
  readonly #wanted = new Map<number, ReadonlyMap<string, string>>();
  readonly #servers = new Map<number, string>();
  /** What finds anything, by the stems of what it is about. */
  readonly #about = new Map<string, Set<number>>();

  add(slot: number, document: SearchDocument): void {
    this.#servers.set(slot, document.server);
    const wanted = wantedThings(document);
    if (wanted.size > 0) this.#wanted.set(slot, wanted);
    for (const subject of subjectsOf(document)) {
      const finders = this.#about.get(subject);
      if (finders === undefined) this.#about.set(subject, new Set([slot]));
      else finders.add(slot);
    }
  }

  remove(slot: number, document: SearchDocument): void {
    this.#wanted.delete(slot);
    this.#servers.delete(slot);
    for (const subject of subjectsOf(document)) this.#about.get(subject)?.delete(slot);
  }

  /** Of the same server, since its ids mean nothing to others, and not in want of the same id. */
  findersFor(slot: number): Finder[] {
    return [...(this.#wanted.get(slot) ?? [])].flatMap(([subject, thing]) =>
      [...(this.#about.get(subject) ?? [])]
        .filter((other) => this.#servers.get(other) === this.#servers.get(slot))
        .filter((other) => this.#wanted.get(other)?.has(subject) !== true)
        .map((other) => ({ slot: other, thing })),
    );
  }
}

/** The things whose ids a tool takes, by their stems. */
function wantedThings({ name, parameters }: SearchDocument): Map<string, string> {
  const inPath = [...name.matchAll(/([^/{}]*)\/\{([^{}]+)\}/g)].map(([, before = "", field = ""]) =>
    ownerOf(field, before),
  );
  const things = [...inPath, ...parameters.map((parameter) => ownerOf(parameter.name, name))];
  return new Map(things.flatMap((thing) => (thing === undefined ? [] : [[stem(thing), thing]])));
}

/** Whose id a field has: `movie_id` says it, an `id` is that of what stands before it. */
function ownerOf(field: string, before: string): string | undefined {
  const words = splitPlain(field);
  const last = words.pop();
  if (last !== "id" && last !== "ids") return undefined;
  return words.pop() ?? splitPlain(before).at(-1);
}

function subjectsOf({ name, description }: SearchDocument): ReadonlySet<string> {
  const words = splitPlain(name);
  if (!words.some((word) => FINDING.has(word))) return new Set();
  return new Set([...words, ...splitPlain(description)].map(stem));
}
