import { formatCallName } from "../../catalogue/tool-id.ts";
import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import type { ListedCapability } from "../../registry/listed-capability.ts";
import type { JsonSchema } from "../../base/json.ts";
import { type Effect, moreSevere } from "../../permissions/effect.ts";

/** Describes a capability as an MCP tool. A tool that is missing in `effects` may do anything. */
export function toTool(capability: ListedCapability, effects: ReadonlyMap<string, Effect>): Tool {
  const { name, description = `Capability: ${name}`, author, parameters, output } = capability;
  return {
    name: formatCallName(name),
    description: author === undefined ? description : `[by ${author}] ${description}`,
    inputSchema: inputSchema(parameters),
    ...(output === undefined ? {} : { outputSchema: usually(output) }),
    annotations: annotate(capability, effects),
  };
}

/** Every client gets it with every list; `pml_discover` has the whole. */
const LARGEST_LISTED_SCHEMA = 64 * 1024;

/** Accepts any argument where no parameter is known, or too much to list. */
function inputSchema(parameters: JsonSchema): Tool["inputSchema"] {
  const hasProperties = Object.keys(parameters["properties"] ?? {}).length > 0;
  const isKnown = parameters["type"] === "object" && (hasProperties || parameters["additionalProperties"] === false);
  if (!isKnown || JSON.stringify(parameters).length > LARGEST_LISTED_SCHEMA)
    return { type: "object", properties: {}, additionalProperties: true };
  return { ...(parameters as Tool["inputSchema"]), type: "object" };
}

/**
 * Widens the observed schema to one of two alternatives, the other of which permits everything: clients refuse a
 * result that breaks its schema, and the next result may differ.
 */
function usually(output: JsonSchema): Tool["outputSchema"] {
  return { type: "object", anyOf: [output, {}] };
}

function annotate({ tools, dynamic }: ListedCapability, effects: ReadonlyMap<string, Effect>): ToolAnnotations {
  const all = tools.map((tool) => effects.get(tool) ?? "destructive");
  const worst = dynamic ? "destructive" : all.reduce(moreSevere, "read");
  return {
    readOnlyHint: worst === "read",
    ...(worst === "read" ? {} : { destructiveHint: worst === "destructive", idempotentHint: worst === "idempotent" }),
    openWorldHint: tools.length > 0 || dynamic,
  };
}
