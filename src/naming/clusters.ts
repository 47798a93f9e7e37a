import type { Nameable } from "./nameable.ts";

const ALIKE = 0.5;

/** Groups of what uses the same tools, mostly; in the order in which their first members come. */
export function clusterByTools(nameables: readonly Nameable[]): Nameable[][] {
  const clusters: { readonly tools: readonly string[]; readonly members: Nameable[] }[] = [];
  // Few sets of tools are shared by many programs, so each set is compared once.
  for (const [first, ...others] of Map.groupBy(nameables, ({ tools }) => tools.toSorted().join("\n")).values()) {
    if (first === undefined) continue;
    const alike = clusters.find(({ tools }) => overlap(tools, first.tools) >= ALIKE);
    if (alike === undefined) clusters.push({ tools: first.tools, members: [first, ...others] });
    else alike.members.push(first, ...others);
  }
  return clusters.map(({ members }) => members);
}

/** Of all the tools that either uses, the part that both use. */
function overlap(a: readonly string[], b: readonly string[]): number {
  const all = new Set([...a, ...b]);
  if (all.size === 0) return 1;
  return a.filter((tool) => b.includes(tool)).length / all.size;
}
