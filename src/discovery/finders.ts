import { stem } from "./stem.ts";
import type { SearchDocument } from "./search.ts";
import { splitPlain } from "./query-words.ts";

/** A tool that finds `thing`, whose id another tool needs. */
export interface Finder {
  readonly slot: number;
  readonly thing: string;
}

/** Verbs in the names of tools that find things. */
const FINDING_VERBS = new Set(["search", "find", "list", "lookup", "query", "browse"]);

/**
 * Finds prerequisite tools. A tool that takes an id needs one that finds the thing first, and requests never say so.
 * Names alone tell: of parameters (`movie_id`), of path segments (`/movie/{id}/credits`), and of tools that search or
 * list movies.
 */
export class Finders {
  readonly #wanted = new Map<number, ReadonlyMap<string, string>>();
  readonly #servers = new Map<number, string>();
  /** Finding tools by the stems of their subjects. */
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

  /** Only tools of the same server, whose ids match, and none that needs the same id itself. */
  findersFor(slot: number): Finder[] {
    return [...(this.#wanted.get(slot) ?? [])].flatMap(([subject, thing]) =>
      [...(this.#about.get(subject) ?? [])]
        .filter((other) => this.#servers.get(other) === this.#servers.get(slot))
        .filter((other) => this.#wanted.get(other)?.has(subject) !== true)
        .map((other) => ({ slot: other, thing })),
    );
  }
}

/** Things whose ids a tool takes, by stem. */
function wantedThings({ name, parameters }: SearchDocument): Map<string, string> {
  const inPath = [...name.matchAll(/([^/{}]*)\/\{([^{}]+)\}/g)].map(([, before = "", field = ""]) =>
    ownerOf(field, before),
  );
  const things = [...inPath, ...parameters.map((parameter) => ownerOf(parameter.name, name))];
  return new Map(things.flatMap((thing) => (thing === undefined ? [] : [[stem(thing), thing]])));
}

/** Owner of an id field: `movie_id` names it, a bare `id` belongs to the word before it. */
function ownerOf(field: string, before: string): string | undefined {
  const words = splitPlain(field);
  const last = words.pop();
  if (last !== "id" && last !== "ids") return undefined;
  return words.pop() ?? splitPlain(before).at(-1);
}

function subjectsOf({ name, description }: SearchDocument): ReadonlySet<string> {
  const words = splitPlain(name);
  if (!words.some((word) => FINDING_VERBS.has(word))) return new Set();
  return new Set([...words, ...splitPlain(description)].map(stem));
}
