import type { Writes } from "./steps.ts";
import { partsOf, type Term } from "./term.ts";

/** Operations that hand on what they get. */
const TRANSPARENT: ReadonlySet<string> = new Set([
  "at",
  "spread",
  "??",
  "JSON.parse",
  "JSON.stringify",
  "structuredClone",
]);

/**
 * The parts of a result that the program computes. Wrapping results of calls or picking from them is no computation:
 * agents phrase their answers differently each time.
 */
export function findComputed(term: Term, writes: Writes): readonly Term[] {
  return new ComputedParts(writes).of(term);
}

class ComputedParts {
  readonly #writes: Writes;
  readonly #visited = new Set<Term>();

  constructor(writes: Writes) {
    this.#writes = writes;
  }

  of(term: Term): readonly Term[] {
    if (this.#visited.has(term)) return [];
    this.#visited.add(term);
    if (term.kind === "variable") {
      const values = this.#writes.get(term.variable) ?? [];
      return values.some((value) => this.of(value).length > 0) ? [term] : [];
    }
    if (term.kind !== "operation" || this.#isTransparent(term)) return partsOf(term).flatMap((part) => this.of(part));
    return term.parts.length === 0 ? [] : [term];
  }

  #isTransparent({ name, parts }: Extract<Term, { kind: "operation" }>): boolean {
    if (TRANSPARENT.has(name) || name.startsWith("without ") || name.startsWith("from ")) return true;
    // A member, not a method.
    if (name.startsWith(".")) return true;
    return name === "map()" && parts.slice(1).every((part) => this.of(part).length === 0);
  }
}
