import type { Nameable } from "./nameable.ts";

const MIN_OVERLAP = 0.5;

/** Groups programs by overlapping sets of tools, in order of their first members. */
export function clusterByTools(nameables: readonly Nameable[]): Nameable[][] {
  const clusters: { readonly tools: readonly string[]; readonly members: Nameable[] }[] = [];
  // Compares each distinct set of tools once: many programs share few sets.
  for (const [first, ...others] of Map.groupBy(nameables, ({ tools }) => tools.toSorted().join("\n")).values()) {
    if (first === undefined) continue;
    const alike = clusters.find(({ tools }) => overlap(tools, first.tools) >= MIN_OVERLAP);
    if (alike === undefined) clusters.push({ tools: first.tools, members: [first, ...others] });
    else alike.members.push(first, ...others);
  }
  return clusters.map(({ members }) => members);
}

/** Jaccard similarity. */
function overlap(a: readonly string[], b: readonly string[]): number {
  const all = new Set([...a, ...b]);
  if (all.size === 0) return 1;
  return a.filter((tool) => b.includes(tool)).length / all.size;
}
