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

/** Caches the capabilities that each principal may see, until something changes. */
export class CapabilityLists {
  readonly #parts: CapabilityListsParts;
  readonly #listings = new BoundedMap<string, Listing>(MAX_PRINCIPALS);
  #generation = 0;

  constructor(parts: CapabilityListsParts) {
    this.#parts = parts;
  }

  /** Invalidates every list. */
  markStale(): void {
    this.#generation++;
  }

  /** Returns the list as last read. */
  known(principal: string): readonly Tool[] {
    return this.#listings.get(principal)?.tools ?? NOTHING;
  }

  /** Reads the current list; returns the same array where nothing changed. */
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

/** Leaves out the output schema, which every run refines and no client needs to hear about. */
function definitions(tools: readonly Tool[]): readonly Tool[] {
  return tools.map(({ outputSchema: _learned, ...definition }) => definition);
}
