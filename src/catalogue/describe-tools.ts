import type { Tool } from "@modelcontextprotocol/server";
import { OWNER } from "../registry/scope.ts";
import type { Gateway } from "../mcp/server/gateway.ts";
import { capabilityWireName } from "./wire-names.ts";

/** A tool as people look at it: everything that may be called, whether or not clients are shown it. */
export interface DescribedTool extends Tool {
  readonly id: string;
  readonly listed: boolean;
}

export async function describeTools(gateway: Gateway): Promise<DescribedTool[]> {
  const capabilities = await gateway.listCapabilities(OWNER);
  const { surface, ownTools } = gateway;
  const listed = new Set(surface.listTools("canonical").map(({ name }) => name));
  const own = ownTools.map(({ definition }) => ({ canonical: definition.name, tool: definition }));
  const described = (canonical: string, name: string, tool: Tool): DescribedTool => ({
    ...tool,
    id: canonical,
    name,
    listed: listed.has(canonical),
  });
  return [
    ...own.map(({ canonical, tool }) => described(canonical, surface.toolNames.wireName(canonical), tool)),
    ...capabilities.map((tool) => described(tool.name, capabilityWireName(tool.name), tool)),
    ...surface.tools.map(({ canonical, wireName, tool }) => described(canonical, wireName, tool)),
  ];
}
