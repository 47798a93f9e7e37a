import type { Nameable } from "./nameable.ts";

const ALIKE = 0.5;

/** Groups of what uses the same tools, mostly; in the order in which their first members come. */
export function clusterByTools(nameables: readonly Nameable[]): Nameable[][] {
  const clusters: Nameable[][] = [];
  for (const nameable of nameables) {
    const alike = clusters.find(([first]) => first !== undefined && overlap(first.tools, nameable.tools) >= ALIKE);
    if (alike === undefined) clusters.push([nameable]);
    else alike.push(nameable);
  }
  return clusters;
}

/** Of all the tools that either uses, the part that both use. */
function overlap(a: readonly string[], b: readonly string[]): number {
  const all = new Set([...a, ...b]);
  if (all.size === 0) return 1;
  return a.filter((tool) => b.includes(tool)).length / all.size;
}
