import { isDeepStrictEqual } from "node:util";
import type { Tool } from "@modelcontextprotocol/server";
import { BoundedMap } from "../../base/bounded-map.ts";
import type { ListingChoice } from "../../registry/listed-capability.ts";
import type { Asker, Scope } from "../../registry/scope.ts";

interface Listing {
  readonly tools: readonly Tool[];
  readonly generation: number;
}

export interface CapabilityListsParts {
  readonly scope: Scope;
  readonly list: (asker: Asker, choice: ListingChoice) => Promise<readonly Tool[]>;
  readonly choice: () => ListingChoice;
}

const MAX_PRINCIPALS = 100;
const NOTHING: readonly Tool[] = [];

/** The capabilities that each principal may be shown, read again when something changed. */
export class CapabilityLists {
  readonly #parts: CapabilityListsParts;
  readonly #listings = new BoundedMap<string, Listing>(MAX_PRINCIPALS);
  #generation = 0;

  constructor(parts: CapabilityListsParts) {
    this.#parts = parts;
  }

  /** Everything is looked at anew from now on. */
  markStale(): void {
    this.#generation++;
  }

  /** As they were last read. */
  known(principal: string): readonly Tool[] {
    return this.#listings.get(principal)?.tools ?? NOTHING;
  }

  /** As they are; the same list as before where nothing is different. */
  async read(principal: string): Promise<readonly Tool[]> {
    const known = this.#listings.get(principal);
    const generation = this.#generation;
    if (known?.generation === generation) return known.tools;
    const { scope, list, choice } = this.#parts;
    const tools = await list({ scope, principal }, choice());
    const same =
      known !== undefined && isDeepStrictEqual(definitions(known.tools), definitions(tools)) ? known.tools : tools;
    this.#listings.set(principal, { tools: same, generation });
    return same;
  }
}

/** What results look like is learned with every run; that alone is no reason to read a list again. */
function definitions(tools: readonly Tool[]): readonly Tool[] {
  return tools.map(({ outputSchema: _learned, ...definition }) => definition);
}
