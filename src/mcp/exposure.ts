/** Which of the servers' tools are listed, besides PML's own. */
export interface ExposureSettings {
  readonly exposure: "auto" | "full" | "meta" | "pinned";
  /** With `auto`, the length up to which everything is listed. */
  readonly maxListedTools: number;
  /** `server:tool`, or `server:*`. */
  readonly pinned: readonly string[];
}

interface Exposable {
  readonly server: string;
  readonly canonical: string;
}

/** What is not chosen can be called all the same; it is only not shown. */
export function chooseListed<T extends Exposable>(
  tools: readonly T[],
  ownCount: number,
  { exposure, maxListedTools, pinned }: ExposureSettings,
): readonly T[] {
  if (exposure === "full") return tools;
  if (exposure === "meta") return [];
  if (exposure === "auto" && ownCount + tools.length <= maxListedTools) return tools;
  const wanted = new Set(pinned);
  return tools.filter(({ server, canonical }) => wanted.has(canonical) || wanted.has(`${server}:*`));
}
