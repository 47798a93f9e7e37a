import type { Tool } from "@modelcontextprotocol/server";
import type { Gateway } from "./gateway.ts";

/** A tool as people look at it: everything that may be called, whether or not clients are shown it. */
export interface DescribedTool extends Tool {
  readonly id: string;
  readonly listed: boolean;
}

export function describeTools({ surface, ownTools }: Gateway): DescribedTool[] {
  const listed = new Set(surface.listTools("canonical").map(({ name }) => name));
  const own = ownTools.map(({ definition }) => ({ canonical: definition.name, tool: definition }));
  return [...own, ...surface.tools].map(({ canonical, tool }) => ({
    ...tool,
    id: canonical,
    name: surface.toolNames.wireName(canonical),
    listed: listed.has(canonical),
  }));
}
