import type { Tool } from "@modelcontextprotocol/server";
import type { describedTool } from "../../contract/servers.ts";
import type { Sent } from "../../contract/wire.ts";
import { OWNER } from "../../registry/scope.ts";
import type { Gateway } from "./gateway.ts";
import { capabilityWireName } from "../../catalogue/wire-names.ts";

type Described = Sent<typeof describedTool>;

/** Lists every callable tool for people, whether or not clients list it. */
export async function describeTools(gateway: Gateway): Promise<Described[]> {
  const capabilities = await gateway.listCapabilities(OWNER);
  const { surface, ownTools } = gateway;
  const listed = new Set(surface.listTools("canonical").map(({ name }) => name));
  const described = (id: string, name: string, tool: Tool): Described => ({
    ...tool,
    id,
    name,
    listed: listed.has(id),
  });
  return [
    ...ownTools.map(({ definition }) =>
      described(definition.name, surface.toolNames.wireName(definition.name), definition),
    ),
    ...capabilities.map((tool) => described(tool.name, capabilityWireName(tool.name), tool)),
    ...surface.tools.map(({ id, wireName, definition, annotations, contentHash: hash }) => {
      const seeming = annotations?.seemsToRead;
      const seemsToRead = seeming === undefined ? undefined : { hash, confirmed: seeming === "confirmed" };
      return { ...described(id, wireName, definition), ...(seemsToRead === undefined ? {} : { seemsToRead }) };
    }),
  ];
}
