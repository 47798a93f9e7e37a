import { allToolsOf, CAPABILITY_PREFIX, parseCallName } from "./tool-id.ts";
import type { ListingChoice } from "../registry/listed-capability.ts";

/** What is listed besides the `pml_*` tools. */
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
  /** How many are listed in any case. */
  readonly core: number;
  /** The standard library. */
  readonly library: readonly T[];
  /** Those that are used most first. */
  readonly capabilities: readonly T[];
  readonly tools: readonly T[];
}

/** What is not chosen can be called all the same; it is only not shown. */
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
  // Agents know what to do with tools before they know what to do with names.
  const rest = [...named, ...tools, ...library.filter(isPinned)];
  if (rest.length <= room) return rest;
  const used = capabilities.filter((each) => !isPinned(each)).slice(0, Math.max(0, room - kept.length));
  const listed = new Set([...kept, ...used]);
  return [...named, ...tools, ...library].filter((each) => listed.has(each));
}

/** Which capabilities could come into the list, so that no more than those are read. */
export function choiceFor({ exposure, maxListedTools, pinned }: ExposureSettings): ListingChoice {
  const names = pinned.filter((each) => each.startsWith(CAPABILITY_PREFIX)).map(parseCallName);
  if (exposure === "full" || names.includes("*")) return { limit: undefined, pinned: names };
  return { limit: exposure === "auto" ? maxListedTools : 0, pinned: names };
}
