import { allToolsOf, CAPABILITY_PREFIX, parseCallName } from "./tool-id.ts";
import type { ListingChoice } from "../registry/listed-capability.ts";

/** Chooses the list of tools besides the `pml_*` ones. */
export interface ExposureSettings {
  readonly exposure: "auto" | "full" | "meta" | "pinned";
  /** With `auto`, the length up to which everything is listed. */
  readonly maxListedTools: number;
  /** `server:tool`, or `server:*`. */
  readonly pinned: readonly string[];
}

interface Exposable {
  readonly server: string;
  readonly id: string;
}

export interface Offered<T extends Exposable> {
  /** The number of tools that are always listed. */
  readonly core: number;
  /** The standard library. */
  readonly library: readonly T[];
  /** The most used first. */
  readonly capabilities: readonly T[];
  readonly tools: readonly T[];
}

/** Chooses the tools that are shown; every other one can still be called. */
export function chooseListed<T extends Exposable>(offered: Offered<T>, settings: ExposureSettings): readonly T[] {
  const { core, library, capabilities, tools } = offered;
  const { exposure, maxListedTools, pinned } = settings;
  const wanted = new Set(pinned);
  const isPinned = ({ server, id }: T): boolean => wanted.has(id) || wanted.has(allToolsOf(server));
  const named = capabilities.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (exposure === "full") return [...named, ...tools, ...library];
  if (exposure === "meta") return [];
  const kept = [...named, ...tools, ...library].filter(isPinned);
  if (exposure === "pinned") return kept;
  const room = maxListedTools - core;
  if (named.length + tools.length + library.length <= room) return [...named, ...tools, ...library];
  // An agent can use a tool before it knows the registry, so the library leaves the list first.
  const rest = [...named, ...tools, ...library.filter(isPinned)];
  if (rest.length <= room) return rest;
  const used = capabilities.filter((each) => !isPinned(each)).slice(0, Math.max(0, room - kept.length));
  const listed = new Set([...kept, ...used]);
  return [...named, ...tools, ...library].filter((each) => listed.has(each));
}

/** Bounds the capabilities that are read to those that can be listed. */
export function choiceFor({ exposure, maxListedTools, pinned }: ExposureSettings): ListingChoice {
  const names = pinned.filter((each) => each.startsWith(CAPABILITY_PREFIX)).map(parseCallName);
  if (exposure === "full" || names.includes("*")) return { limit: undefined, pinned: names };
  return { limit: exposure === "auto" ? maxListedTools : 0, pinned: names };
}
